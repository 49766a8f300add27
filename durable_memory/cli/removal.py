"""Commands that remove messages from a memory: delete, clear."""

from __future__ import annotations

from typing import Annotated

import typer

from durable_memory.cli.absence import NO_SUCH_MEMORY
from durable_memory.cli.confirming import Unasked, confirmed, require_answer
from durable_memory.cli.options import Ids, OneMemory, OperationId
from durable_memory.cli.output import say, show
from durable_memory.cli.session import with_memory_if_any
from durable_memory.cli.spread_options import spread_options
from durable_memory.cli.table import Table, facts
from durable_memory.cli.wording import REPEATED, counted, ids_of
from durable_memory.memory.errors import MemoryDamaged
from durable_memory.memory.memory import Memory
from durable_memory.memory.types import ClearResult, DeleteResult
from durable_memory.memory.types.answers import to_json


@spread_options
def delete(at: OneMemory, ids: Ids, *, operation_id: OperationId = None) -> None:
    """Remove messages, or summaries, with their whole groups.

    Exit code 1 if one of them is not there, or only as part of a summary; 3 if there is no such memory.
    """
    answer = with_memory_if_any(
        at,
        lambda memory: memory.delete(ids, operation_id=operation_id),
        empty=lambda result: not result.removed and not result.covered,
    )
    show(at.output, to_json(answer.result), _delete_table(answer.title, answer.result))
    if answer.result.not_found or answer.result.covered:
        raise typer.Exit(1 if answer.exists else NO_SUCH_MEMORY)


@spread_options
def clear(
    at: OneMemory,
    *,
    yes: Unasked = False,
    backup: Annotated[bool, typer.Option("--backup", help="Keep it for seven days, for `restore`.")] = False,
    operation_id: OperationId = None,
) -> None:
    """Remove every message and summary, after a question."""
    require_answer(yes=yes)

    existed = True

    async def clear_if_wanted(memory: Memory) -> ClearResult | None:
        nonlocal existed
        held = "what is left"
        try:
            counters = await memory.stats()
            existed = counters.exists
            held = counted(sum(counters.messages.values()) + counters.omitted.messages, "message")
        except MemoryDamaged:
            pass  # which a clear removes, too
        if not yes and not confirmed(
            f"Remove {held} of {at.resource} {memory.id.key!r}{'' if backup else ' for good'}?",
        ):
            return None
        return await memory.clear(confirm=True, backup=backup, operation_id=operation_id)

    answer = with_memory_if_any(at, clear_if_wanted, empty=lambda _: not existed)
    if answer.result is None:
        say("Nothing was removed.")
        raise typer.Exit(1)
    show(at.output, to_json(answer.result), _clear_table(answer.title, answer.result))


def _delete_table(title: str, result: DeleteResult) -> Table:
    """What a delete removed."""
    rows = [
        ("already", REPEATED if result.already_applied else ""),
        ("removed", ids_of(result.removed) if result.removed else "nothing"),
        ("not there", "\n".join(result.not_found)),
        *(("in a summary", f"{covered}: delete the summary {summary}") for covered, summary in result.covered.items()),
    ]
    return facts(title, rows)


def _clear_table(title: str, result: ClearResult) -> Table:
    """What a clear removed."""
    rows = [("removed", counted(result.cleared, "message")), ("backup", result.backup_id or "")]
    return facts(title, rows)
