"""Pinning: groups that stay in the view until they are unpinned."""

from __future__ import annotations

from collections.abc import Sequence

from durable_memory.memory.limits import Limits
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.in_memory.values import OVERFLOW, Group, Tally
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
    for share in limits.shares:
        added = sum(group.tokens for group in groups if limits.section_of(group.place) == share.section)
        actual = state.pinned_in(share.section, limits).tokens + added
        if added and actual > share.tokens:
            raise refusals.pinned_too_large(resource, "tokens", actual, share.tokens, share.section)
    added_by_all = Tally(sum(group.tokens for group in groups), sum(group.messages for group in groups))
    fixed = (state.fixed, added_by_all)
    for unit, actual, limit in (
        ("tokens", sum(tally.tokens for tally in fixed), None if limits.shares else limits.room_tokens),
        ("messages", sum(tally.messages for tally in fixed), limits.room_messages),
    ):
        if limit is not None and actual > limit:
            raise refusals.pinned_too_large(resource, unit, actual, limit)
