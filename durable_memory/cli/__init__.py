"""The command line, `durable-memory`."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line, see app.main. Ctrl-C ends it in silence also while what it needs is imported."""
    # Of a shell's background process it is ignored, and stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    from durable_memory.cli import app  # noqa: PLC0415 - takes most of a second

    app.main(arguments)


def _end(number: int, _frame: object) -> NoReturn:
    """Ends a process that has opened nothing."""
    os._exit(128 + number)


__all__ = ["main"]
