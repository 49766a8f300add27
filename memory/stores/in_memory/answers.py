"""What the store answers, made from the state of a memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.in_memory.flushing import Selection, select, summaries_along
from durable_memory.memory.stores.in_memory.shelves import KeptBackup
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.in_memory.values import OVERFLOW, Tally
from durable_memory.memory.stores.values import ABSENT
from durable_memory.memory.types import AppendResult, Backup, FlushReason, FlushResult, MemoryStats, Omitted


def repeated(ids: tuple[str, ...], state: MemoryState | None, limits: Limits) -> AppendResult:
    """Returns the answer to an append or write that had been applied before: its ids, and how things stand now."""
    if state is None:
        return AppendResult(ids, ABSENT, 0, 0, already_applied=True)
    view = state.view
    return AppendResult(
        ids, state.version, view.tokens, view.messages, flush_due=state.flush_due(limits), already_applied=True
    )


def repeated_flush(first: FlushResult, state: MemoryState | None, limits: Limits) -> FlushResult:
    """Returns the answer to a flush that had been done before: its result, and whether another one is due now."""
    return replace(first, flush_due=state is not None and state.flush_due(limits), already_applied=True)


def flushed(
    outcome: Literal["committed", "dropped", "nothing"],
    before: Tally,
    state: MemoryState,
    limits: Limits,
    *,
    reason: FlushReason | None = None,
    removed_ids: tuple[str, ...] = (),
    summary_id: str | None = None,
) -> FlushResult:
    """Returns the result of a flush that found a memory. before: the view as it was."""
    after = state.view
    return FlushResult(
        outcome,
        reason=reason,
        removed_ids=removed_ids,
        summary_id=summary_id,
        tokens_before=before.tokens,
        tokens_after=after.tokens,
        messages_before=before.messages,
        messages_after=after.messages,
        flush_due=state.flush_due(limits),
    )


def planned(state: MemoryState, selection: Selection, limits: Limits) -> FlushResult:
    """Returns what a flush of this selection would do; a summary is counted as large as it may become."""
    before = state.view
    live = [group for group in selection.groups if group.place != OVERFLOW]
    after = Tally(before.tokens, before.messages)
    if limits.summarize:
        live += [state.where[number] for number in summaries_along(state, limits)]
        after.change(limits.summary_tokens, 1)
    for group in live:
        after.change(-group.tokens, -group.messages)
    return FlushResult(
        "planned",
        removed_ids=tuple(state.id_at(number) for number in selection.numbers),
        tokens_before=before.tokens,
        tokens_after=after.tokens,
        messages_before=before.messages,
        messages_after=after.messages,
        flush_due=state.flush_due(limits),
    )


def stats_of(state: MemoryState, limits: Limits, now_ms: int) -> MemoryStats:
    """Returns the counters of a memory."""
    waiting = state.tallies[OVERFLOW]
    return MemoryStats(
        exists=True,
        version=state.version,
        tokens={section: state.fill(section, limits).tokens for section in limits.sections},
        messages={section: state.fill(section, limits).messages for section in limits.sections},
        omitted=Omitted(waiting.messages, waiting.tokens),
        max_tokens=limits.max_tokens,
        max_messages=limits.max_messages,
        flush_due=state.flush_due(limits),
        flush_blocked=_blocked(state, limits, now_ms),
        flushing_owner=state.leased_by(now_ms),
        last_flush_at=None if state.last_flush is None else _instant(state.last_flush[0]),
        last_flush_outcome=None if state.last_flush is None else state.last_flush[1],
        created_at=_instant(state.created_ms),
        updated_at=_instant(state.updated_ms),
        expires_at=None if state.expires_ms is None else _instant(state.expires_ms),
        due_since=_instant(state.due_ms) if state.due_ms is not None and state.flush_due(limits) else None,
        shares=limits.share_tokens,
    )


def listed(backups: Mapping[str, KeptBackup]) -> tuple[Backup, ...]:
    """Returns the backups of a memory, oldest first."""
    return tuple(
        Backup(backup_id, kept.messages, _instant(kept.created_ms), _instant(kept.ends_ms))
        for backup_id, kept in backups.items()
    )


def _blocked(state: MemoryState, limits: Limits, now_ms: int) -> FlushReason | None:
    """Returns why a flush that is due would take nothing. What waits in the overflow can always be taken."""
    if state.groups[OVERFLOW] or not state.flush_due(limits):
        return None
    selection = select(state, limits, force=False, now_ms=now_ms)
    return selection.blocked if selection.takes_nothing else None


def _instant(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
