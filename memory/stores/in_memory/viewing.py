"""Reading: which groups a view shows, in which order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from durable_memory.memory.limits import Limits
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.in_memory.values import Group, Tally
from durable_memory.memory.stores.port import ReadQuery, StoredEntry, StoredView
from durable_memory.memory.types import SECTIONS


def read_view(state: MemoryState, query: ReadQuery, limits: Limits, resource: str) -> StoredView:
    """Returns the view that `query` asks for, groups as blocks, groups with missing results left out.

    Raises MemoryOversize if system and pinned messages alone exceed query.max_tokens.
    """
    groups = [group for section in SECTIONS for group in state.groups[section].values() if not group.waiting]
    whole = _tally(groups)
    if _exceeds(whole, limits.max_tokens, limits.max_messages):
        groups = _fit(groups, limits.max_tokens, limits.max_messages)
    within = _tally(groups)
    if query.ids is not None:
        named = {group.number for group in (state.find(message_id) for message_id in query.ids) if group is not None}
        groups = [group for group in groups if group.number in named]
    if query.sections is not None:
        groups = [group for group in groups if group.place in query.sections]
    if query.limit is not None:
        groups = _tail(groups, query.limit)
    if query.max_tokens is not None:
        fixed = sum(group.tokens for group in groups if _is_fixed(group))
        if fixed > query.max_tokens:
            raise refusals.budget_too_small(resource, fixed, query.max_tokens)
        groups = _fit(groups, query.max_tokens, None)
    waiting = state.tallies["overflow"]
    return StoredView(
        entries=tuple(entry for group in groups for entry in entries_of(group)),
        tokens=_tally(groups).tokens,
        version=state.version,
        omitted_messages=waiting.messages + whole.messages - within.messages,
        omitted_tokens=waiting.tokens + whole.tokens - within.tokens,
        flush_due=state.flush_due(limits),
    )


def entries_of(group: Group) -> Iterable[StoredEntry]:
    """Returns the messages of a group in their order."""
    return (group.entries[number] for number in sorted(group.entries))


def _tail(groups: Sequence[Group], messages: int) -> list[Group]:
    """Returns the newest groups, together at most so many messages; it ends at the first that does not fit."""
    start = len(groups)
    while start and groups[start - 1].messages <= messages:
        start -= 1
        messages -= groups[start].messages
    return list(groups[start:])


def _fit(groups: Sequence[Group], max_tokens: int | None, max_messages: int | None) -> list[Group]:
    """Returns what fits, in view order: system and pinned first, then summaries, then the conversation, newest back."""
    kept: set[int] = set()
    used = Tally()

    def keep(group: Group) -> bool:
        used.change(group.tokens, group.messages)
        if _exceeds(used, max_tokens, max_messages):
            used.change(-group.tokens, -group.messages)
            return False
        kept.add(group.number)
        return True

    newest_first = groups[::-1]
    for privileged in (_is_system, _is_pinned, _is_summary):
        for group in filter(privileged, newest_first):
            keep(group)
    for group in newest_first:
        if group.place == "short_term" and not group.pinned and not keep(group):
            break
    return [group for group in groups if group.number in kept]


def _tally(groups: Iterable[Group]) -> Tally:
    tally = Tally()
    for group in groups:
        tally.change(group.tokens, group.messages)
    return tally


def _exceeds(tally: Tally, max_tokens: int | None, max_messages: int | None) -> bool:
    return (max_tokens is not None and tally.tokens > max_tokens) or (
        max_messages is not None and tally.messages > max_messages
    )


def _is_system(group: Group) -> bool:
    return group.place == "system"


def _is_pinned(group: Group) -> bool:
    return group.pinned and group.place == "short_term"


def _is_summary(group: Group) -> bool:
    return group.place == "long_term"


def _is_fixed(group: Group) -> bool:
    return _is_system(group) or _is_pinned(group)
