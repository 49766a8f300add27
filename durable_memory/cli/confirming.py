"""The question that a command asks before it removes things."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from durable_memory.cli.table import visible

Unasked = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def require_answer(*, yes: bool) -> None:
    """Refuses to go on where nobody said --yes, and nobody can be asked."""
    if not yes and not sys.stdin.isatty():
        raise typer.BadParameter("there is no terminal to ask at; --yes removes without a question")


def confirmed(question: str) -> bool:
    """Asks at the terminal; whatever is not yes is no, and Ctrl-C ends the command as it ends any other."""
    sys.stderr.write(f"{visible(question)} [y/N]: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
