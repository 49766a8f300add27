"""Applies a planned append to the state of a memory."""

from __future__ import annotations

from collections.abc import Sequence

from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.in_memory.planning import AppendPlan
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.in_memory.values import OVERFLOW, Group
from durable_memory.memory.stores.values import Entry, StoredEntry
from durable_memory.memory.types import SHORT_TERM, SYSTEM, Section


def apply_append(
    state: MemoryState,
    entries: Sequence[Entry],
    plan: AppendPlan,
    limits: Limits,
    *,
    tag: str,
    now_ms: int,
    until_ms: int,
) -> tuple[str, ...]:
    """Does what was planned and returns the ids. until_ms: how long calls of dropped groups are remembered."""
    state.moment = plan.moment
    ids: list[str] = []
    for entry, number, late in zip(entries, plan.follows, plan.late, strict=True):
        state.last_number += 1
        message_id = state.id_of(state.last_number, tag)
        ids.append(message_id)
        section = entry.section if entry.answers is None else _section_of_result(state, number)
        if entry.answers is not None:
            state.calls.answer(number, entry.answers)
        if late and not limits.summarize:
            continue
        group = _group_for(state, entry, number, late=late)
        if not late:
            group.score, group.touched_ms = plan.scores[number], now_ms
        pinned = entry.pinned if group.place == SYSTEM else group.pinned
        stored = StoredEntry(message_id, entry.payload, section, entry.tokens, pinned)
        state.add(group, state.last_number, stored)
    for number in plan.evicted:
        group = state.where[number]
        if limits.summarize:
            state.evict(group)
        else:
            state.remove(group, until_ms)
    return tuple(ids)


def _section_of_result(state: MemoryState, number: int) -> Section:
    """A result stands with its call. One that is late stands in no section any more."""
    group = state.where.get(number)
    return group.place if group is not None and group.place != OVERFLOW else SHORT_TERM


def _group_for(state: MemoryState, entry: Entry, number: int, *, late: bool) -> Group:
    """Returns the group that a message joins; a late one founds a remnant if nothing of its group is stored."""
    group = state.groups[OVERFLOW].get(number) if late else state.where.get(number)
    if group is None:
        pinned = entry.pinned and entry.section != SYSTEM
        place = OVERFLOW if late else entry.section
        group = Group(
            number,
            place,
            pinned=pinned and not late,
            band=entry.band,
            opens=tuple(entry.opens),
            waiting=list(entry.opens),
        )
        state.calls.open(number, entry.opens)
    elif entry.answers in group.waiting:
        group.waiting.remove(entry.answers)
    return group
