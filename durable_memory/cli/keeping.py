"""Commands that keep messages, or bring them back: pin, unpin, restore."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from durable_memory.cli.absence import NO_SUCH_MEMORY
from durable_memory.cli.options import Ids, OneMemory, OperationId
from durable_memory.cli.output import show
from durable_memory.cli.session import Answer, with_memory, with_memory_if_any
from durable_memory.cli.spread_options import spread_options
from durable_memory.cli.table import Table, facts
from durable_memory.cli.wording import REPEATED, counted, ids_of, size_of
from durable_memory.memory.types import AppendResult
from durable_memory.memory.types.answers import to_json


@spread_options
def pin(at: OneMemory, ids: Ids, *, operation_id: OperationId = None) -> None:
    """Keep messages in the view until they are unpinned.

    Their groups stay with them. Exit code 1 if one of them is not in the view, 3 if there is no such memory.
    """
    answer = with_memory_if_any(at, lambda memory: memory.pin(ids, operation_id=operation_id), empty=_nothing)
    _show_touched(at, ids, "pinned", answer)


@spread_options
def unpin(at: OneMemory, ids: Ids, *, operation_id: OperationId = None) -> None:
    """Let messages go like others again, with their groups.

    Exit code 1 if one of them is not in the view, 3 if there is no such memory.
    """
    answer = with_memory_if_any(at, lambda memory: memory.unpin(ids, operation_id=operation_id), empty=_nothing)
    _show_touched(at, ids, "unpinned", answer)


@spread_options
def restore(
    at: OneMemory,
    backup: Annotated[
        str, typer.Argument(metavar="BACKUP", help="Its id, as `clear --backup` and `stats RESOURCE KEY` show it.")
    ],
    *,
    if_version: Annotated[
        str | None,
        typer.Option("--if-version", metavar="VERSION", help="Only over this version; 'absent' over none."),
    ] = None,
    operation_id: OperationId = None,
) -> None:
    """Replace a memory by what `clear --backup` has kept of it."""
    answer = with_memory(at, lambda memory: memory.restore(backup, if_version=if_version, operation_id=operation_id))
    show(at.output, to_json(answer.result), _restore_table(answer.title, answer.result))


def _nothing(live: Sequence[str]) -> bool:
    return not live


def _show_touched(at: OneMemory, ids: Sequence[str], word: str, answer: Answer[tuple[str, ...]]) -> None:
    live = answer.result
    missing = [id_ for id_ in ids if id_ not in live]
    show(at.output, {"touched": list(live)}, _pin_table(answer.title, word, live, missing))
    if missing:
        raise typer.Exit(1 if answer.exists else NO_SUCH_MEMORY)


def _restore_table(title: str, result: AppendResult) -> Table:
    """What a restore brought back."""
    rows = [
        ("already", REPEATED if result.already_applied else ""),
        ("replaced", counted(result.removed, "message") if result.removed else ""),
        ("view now", size_of(result.messages, result.tokens)),
        ("flush due", "yes" if result.flush_due else ""),
    ]
    return facts(title, rows)


def _pin_table(title: str, word: str, live: Sequence[str], missing: Sequence[str]) -> Table:
    """A table of the messages that a pin or an unpin found. word: `pinned` or `unpinned`."""
    rows = [(word, ids_of(live) if live else "none"), ("not in the view", ids_of(missing) if missing else "")]
    return facts(title, rows)
