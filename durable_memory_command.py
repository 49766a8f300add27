"""The program `durable-memory`: outside the package, whose import takes a moment, so that Ctrl-C is quiet."""

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line, see durable_memory.cli.app. Ctrl-C ends it in silence also while that is imported."""
    if (sys.argv[1:] if arguments is None else list(arguments))[:1] == ["worker"]:
        # It asks a worker to read its declarations, which this one has not yet done.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        # As the first process of a container it gets only what it has asked for, and would run until it is killed.
        signal.signal(signal.SIGTERM, _end)
    # Of a shell's background process it is ignored, and stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    from durable_memory.cli import main as run  # noqa: PLC0415 - after the handler is set

    run(arguments)


def _end(number: int, _frame: object) -> NoReturn:
    """Ends a process that has opened nothing."""
    os._exit(128 + number)
