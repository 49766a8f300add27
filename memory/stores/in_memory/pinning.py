"""Pinning: groups that stay in the view until they are unpinned."""

from __future__ import annotations

from collections.abc import Sequence

from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.fixed_room import check_fixed_room
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.in_memory.values import OVERFLOW, Group
from durable_memory.memory.types import LONG_TERM, SYSTEM


def pin_groups(
    state: MemoryState, ids: Sequence[str], limits: Limits, now_ms: int, *, pinned: bool, resource: str
) -> tuple[tuple[str, ...], bool]:
    """Pins or unpins the groups of these messages; returns the ids that are live, and whether anything changed.

    Raises MemoryOversize.
    """
    found = {message_id: group for message_id in ids if (group := state.find(message_id)) is not None}
    live = {message_id: group for message_id, group in found.items() if group.place not in {OVERFLOW, LONG_TERM}}
    # System messages never go, pinned or not.
    changing = {group.number: group for group in live.values() if group.place != SYSTEM and group.pinned is not pinned}
    if pinned and changing:
        _check_room(state, list(changing.values()), limits, resource)
    for group in changing.values():
        state.pin(group, limits, now_ms, pinned=pinned)
    return tuple(live), bool(changing)


def _check_room(state: MemoryState, groups: Sequence[Group], limits: Limits, resource: str) -> None:
    in_sections = {
        section: state.pinned_in(section, limits).tokens
        for section in (limits.section_of(group.place) for group in groups)
    }
    for group in groups:
        in_sections[limits.section_of(group.place)] += group.tokens
    check_fixed_room(
        resource,
        limits,
        in_sections=in_sections,
        tokens=state.fixed.tokens + sum(group.tokens for group in groups),
        messages=state.fixed.messages + sum(group.messages for group in groups),
    )
