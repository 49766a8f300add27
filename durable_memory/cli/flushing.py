"""The command that runs a flush, or wakes a worker that does."""

from __future__ import annotations

import math
from typing import Annotated, Final

import typer

from durable_memory.cli.absence import NO_SUCH_MEMORY
from durable_memory.cli.options import OneMemory, OperationId, SummarizerName
from durable_memory.cli.output import show
from durable_memory.cli.session import with_memory_if_any
from durable_memory.cli.spread_options import spread_options
from durable_memory.cli.table import Table, facts
from durable_memory.cli.waking import require_temporal
from durable_memory.cli.wording import FLUSH_REASONS, counted, size_of
from durable_memory.memory.memory import Memory
from durable_memory.memory.types import TOOK_OUT, FlushOutcome, FlushResult
from durable_memory.memory.types.answers import to_json

_UNDONE: Final[tuple[FlushOutcome, ...]] = ("busy", "stale")


@spread_options
def flush(
    at: OneMemory,
    *,
    force: Annotated[bool, typer.Option("--force", help="Below the threshold too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be taken.")] = False,
    max_messages: Annotated[
        int | None,
        typer.Option("--max-messages", metavar="N", min=1, help="Take no more, in whole groups.", show_default=False),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            metavar="RATIO",
            help="Due from this fill, instead of summarize_threshold.",
            show_default=False,
        ),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Or wake a worker and return.")] = True,
    summarizer: SummarizerName = None,
    operation_id: OperationId = None,
) -> None:
    """Run one flush here and now.

    Exit code 1 if another flush was in its way, or the pause after a failed one; 3 if there is no such memory.
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
    named = at.settings(summarizer=summarizer).own_summarizer()
    if wait and named is not None:
        named.load()  # a wrong name is told also where nothing is due
    answer = with_memory_if_any(at, work, empty=lambda result: result.outcome == "gone", summarizer=summarizer)
    show(at.output, to_json(answer.result), _flush_table(answer.title, answer.result))
    if not answer.exists:
        raise typer.Exit(NO_SUCH_MEMORY)
    if answer.result.outcome in _UNDONE:
        raise typer.Exit(1)


def _flush_table(title: str, result: FlushResult) -> Table:
    """What a flush did."""
    would = result.outcome == "planned"
    changed = would or result.outcome in TOOK_OUT
    rows = [
        ("outcome", result.outcome),
        ("reason", FLUSH_REASONS.get(result.reason or result.outcome, result.reason or "")),
        ("would take out" if would else "taken out", counted(len(result.removed_ids), "message") if changed else ""),
        ("summary", result.summary_id or ""),
        ("view before", size_of(result.messages_before, result.tokens_before) if changed else ""),
        (
            "view then, at most" if would else "view now",
            size_of(result.messages_after, result.tokens_after) if changed else "",
        ),
        ("free in", f"{math.ceil(result.retry_after_ms / 100) / 10:,} s" if result.retry_after_ms else ""),
        ("flush due", "yes" if result.flush_due else ""),
    ]
    return facts(title, rows)
