"""The file that tells other shells where started servers are, and what belongs to them: `. .durable-memory/env`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from durable_memory.dev.supervisor import ServerStartError

_FIRST_LINE: Final = "# Written by durable-memory worker --dev, which removes this file at its end."
"""Tells the file of an earlier run, which may have been killed, from one of somebody else."""


def require_ours(path: Path) -> None:
    """Raises ServerStartError if something stands there that no earlier run has left, since `env_file` replaces it."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            is_ours = file.readline().rstrip("\n") == _FIRST_LINE
    except (FileNotFoundError, NotADirectoryError):  # the servers say what is wrong with their folder
        return
    except OSError:  # a folder, such as a virtualenv
        is_ours = False
    if not is_ours:
        raise ServerStartError(
            f"{path} is not of durable-memory, and --dev would write a file there; "
            "move it away, or name another folder with --dev-folder"
        )


@contextmanager
def env_file(path: Path, variables: Mapping[str, str]) -> Iterator[None]:
    """Keeps a line for a shell in a file that stands as long as the context is open: it exports the variables."""
    path.write_text(f"{_FIRST_LINE}\n{export_line(variables)}\n", encoding="utf-8")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def export_line(variables: Mapping[str, str]) -> str:
    """Returns the command that exports variables."""
    return f"export {' '.join(f'{name}={shlex.quote(value)}' for name, value in variables.items())}"
