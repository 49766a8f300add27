"""Where clients cut what is too large: tool calls, and each of their results, leave room for results behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from durable_memory.memory.errors import MemoryOversize
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.in_memory.values import PlannedGroup
from durable_memory.memory.stores.values import Entry


@dataclass(frozen=True, slots=True)
class Member:
    """A message of a group in an append. held: what the group had before it, in tokens."""

    position: int
    entry: Entry
    group: PlannedGroup
    held: int


@dataclass(slots=True)
class _Rest:
    """A group with its members still to be looked at, and what is behind: see `check_results`."""

    tokens: int
    whole: int
    results: int
    large: int
    kept: int


def check_results(
    resource: str, members: Sequence[Member], limits: Limits, fixed_beside: Callable[[PlannedGroup], int]
) -> None:
    """Raises MemoryOversize for the first message that takes what results behind it keep.

    Each keeps the reserve, or if it came with this append and is smaller, its size. What is kept is no more than even
    parts of what is left, or beside the calls half of it; but one that came and cannot be cut keeps its size, if it
    fits. fixed_beside: what else is never evicted, where a group is pinned.
    """
    reserve, refused = limits.result_reserve, None
    behind: dict[int, _Rest] = {}
    for member in reversed(members):
        entry, group = member.entry, member.group
        missing = group.waiting
        rest = behind.setdefault(group.number, _Rest(group.tokens, 0, missing, missing, missing * reserve))
        refused = _refusal(resource, member, rest, limits, fixed_beside) or refused
        rest.tokens -= entry.tokens
        if entry.whole:
            rest.whole += entry.tokens
        else:
            rest.results, rest.kept = rest.results + 1, rest.kept + min(entry.tokens, reserve)
            rest.large += entry.tokens > reserve
    if refused is not None:
        raise refused


def _refusal(
    resource: str, member: Member, rest: _Rest, limits: Limits, fixed_beside: Callable[[PlannedGroup], int]
) -> MemoryOversize | None:
    room = limits.room_of(member.group.place)
    if room is None:
        return None
    more = 0
    if not member.entry.whole:
        room = replace(room, limit=room.limit - fixed_beside(member.group))
        left = room.limit - rest.tokens + member.entry.tokens
        whole = rest.whole if rest.whole < left else 0
        parts = 2 if member.entry.opens else rest.results + 1
        more = whole + min(rest.kept, (left - whole) * (parts - 1) // parts)
    if not rest.tokens + more > room.limit >= member.held:
        return None
    return refusals.group_too_large(resource, member.position, "tokens", rest.tokens + more, room, waiting=rest.large)
