"""Puts the commands together."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from durable_memory.cli.commands import Commands
from durable_memory.exit import leave

app = typer.Typer(
    cls=Commands,
    name="durable-memory",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    # A traceback with local variables would show content.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - the signature is typer's
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - loaded where it is used

        sys.stdout.write(f"durable-memory {version('durable-memory')}\n")
        raise typer.Exit


@app.callback()
def durable_memory(
    *,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Durable, shared memory for AI agents on Temporal."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line and ends the process: 0 if all went well, 1 for an error, 2 for wrong usage."""
    code: object = 1
    _open_what_is_closed()
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        app(args=None if arguments is None else list(arguments), prog_name="durable-memory")
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except OSError as error:
        # Most likely of the output, whose rest must not fail once more; files that are read have words of their own.
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as long as the process
        from durable_memory.cli.output import say  # noqa: PLC0415 - most commands that get here have loaded it

        say(f"Error: {error.strerror or error}" + (f": {error.filename}" if error.filename else ""))
    except Exception:  # noqa: BLE001 - a bug; the process leaves by its one way all the same
        traceback.print_exc()
    leave(code if isinstance(code, int) else 0 if code is None else 1)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    """Ends a command at the first Ctrl-C: asyncio only cancels its task, which a wait for input does not notice."""
    raise KeyboardInterrupt


def _open_what_is_closed() -> None:
    """Opens the null device in place of standard streams that are closed (`>&-`), for which Python has None."""
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - as long as the process
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - the same
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - the same
