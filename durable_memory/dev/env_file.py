"""The file that tells other shells where started servers are, and what belongs to them: `. .durable-memory/env`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def env_file(path: Path, variables: Mapping[str, str]) -> Iterator[None]:
    """Keeps a line for a shell in a file that stands as long as the context is open: it exports the variables."""
    path.write_text(f"{export_line(variables)}\n")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def export_line(variables: Mapping[str, str]) -> str:
    """Returns the command that exports variables."""
    return f"export {' '.join(f'{name}={shlex.quote(value)}' for name, value in variables.items())}"
