"""Commands that take messages out of a memory: delete, flush, clear."""

from __future__ import annotations

import sys
from typing import Annotated, Final

import typer

from durable_memory.cli import tables
from durable_memory.cli.options import Ids, OneMemory, OperationId, SummarizerName
from durable_memory.cli.output import say, show
from durable_memory.cli.session import failing_in_words, with_memory
from durable_memory.cli.sharing import sharing
from durable_memory.cli.waking import require_temporal
from durable_memory.memory.memory import Memory
from durable_memory.memory.types import ClearResult, FlushOutcome, FlushResult
from durable_memory.memory.types.answers import to_json

_UNDONE: Final[tuple[FlushOutcome, ...]] = ("busy", "stale")


@sharing
def delete(at: OneMemory, ids: Ids, *, operation_id: OperationId = None) -> None:
    """Remove messages, or summaries, with their whole groups.

    Exit code 1 if one of them is not there, or only as part of a summary.
    """
    result = with_memory(at, lambda memory: memory.delete(ids, operation_id=operation_id))
    show(at.output, to_json(result), tables.delete_table(at.resource, at.key, result))
    if result.not_found or result.covered:
        raise typer.Exit(1)


@sharing
def flush(
    at: OneMemory,
    *,
    force: Annotated[bool, typer.Option("--force", help="Below the threshold too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be taken.")] = False,
    max_messages: Annotated[
        int | None, typer.Option("--max-messages", min=1, help="Take no more, in whole groups.", show_default=False)
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Due from this fill, instead of summarize_threshold.", show_default=False),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Or wake a worker and return.")] = True,
    summarizer: SummarizerName = None,
    operation_id: OperationId = None,
) -> None:
    """Run one flush here and now.

    Exit code 1 if another flush was in its way, or the pause after a failed one.
    """

    async def work(memory: Memory) -> FlushResult:
        if not wait:
            await require_temporal()
        return await memory.flush(
            force=force,
            dry_run=dry_run,
            max_messages=max_messages,
            threshold=threshold,
            wait=wait,
            operation_id=operation_id,
        )

    if not wait and summarizer is not None:
        raise typer.BadParameter("--summarizer writes here, and with --no-wait a worker does: give it to the worker")
    with failing_in_words():
        named = at.settings(summarizer=summarizer).own_summarizer()
        if wait and named is not None:
            named.load()  # a wrong name is told also where nothing is due
    result = with_memory(at, work, summarizer=summarizer)
    show(at.output, to_json(result), tables.flush_table(at.resource, at.key, result))
    if result.outcome in _UNDONE:
        raise typer.Exit(1)


@sharing
def clear(
    at: OneMemory,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    backup: Annotated[bool, typer.Option("--backup", help="Keep it for seven days, for `restore`.")] = False,
    operation_id: OperationId = None,
) -> None:
    """Remove every message and summary, after a question."""
    if not yes and not sys.stdin.isatty():
        raise typer.BadParameter("there is no terminal to ask at; --yes clears without a question")

    async def clear_if_wanted(memory: Memory) -> ClearResult | None:
        counters = await memory.stats()
        held = sum(counters.messages.values()) + counters.omitted.messages
        if not yes and not typer.confirm(
            f"Remove {tables.counted(held, 'message')} of {at.resource} {at.key!r}{'' if backup else ' for good'}?",
            err=True,
        ):
            return None
        return await memory.clear(confirm=True, backup=backup, operation_id=operation_id)

    result = with_memory(at, clear_if_wanted)
    if result is None:
        say("Nothing was removed.")
        raise typer.Exit(1)
    show(at.output, to_json(result), tables.clear_table(at.resource, at.key, result))
