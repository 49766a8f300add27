"""Reading: which groups a view shows, in which order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from durable_memory.memory.limits import Limits
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.in_memory.values import OVERFLOW, Group, Place, Tally, in_conversation
from durable_memory.memory.stores.values import ReadQuery, StoredEntry, StoredView
from durable_memory.memory.types import LONG_TERM, SHORT_TERM, SYSTEM, Section


def read_view(state: MemoryState, query: ReadQuery, limits: Limits, resource: str) -> StoredView:
    """Returns the view that `query` asks for, groups as blocks, groups with missing results left out.

    Raises MemoryOversize if system and pinned messages alone exceed query.max_tokens.
    """
    groups = [group for section in limits.sections for group in state.groups_in(section, limits) if not group.waiting]
    whole = _tally(groups)
    if limits.shares:
        groups = _fit_shares(groups, limits)
    elif _exceeds(whole, limits.max_tokens, limits.max_messages):
        groups = _fit(groups, limits.max_tokens, limits.max_messages)
    within = _tally(groups)
    if query.ids is not None:
        named = {group.number for group in (state.find(message_id) for message_id in query.ids) if group is not None}
        groups = [group for group in groups if group.number in named]
    if query.sections is not None:
        groups = [group for group in groups if limits.section_of(group.place) in query.sections]
    if query.before_id is not None:
        edge = _edge(state, query.before_id, limits, resource)
        groups = [group for group in groups if (_rank(group.place, limits), group.number) < edge]
    if query.limit is not None:
        groups = _tail(groups, query.limit)
    if query.max_tokens is not None:
        fixed = sum(group.tokens for group in groups if _is_fixed(group))
        if fixed > query.max_tokens:
            raise refusals.budget_too_small(resource, fixed, query.max_tokens)
        groups = _fit(groups, query.max_tokens, None)
    waiting = state.tallies[OVERFLOW]
    return StoredView(
        entries=tuple(_shown(entry, limits) for group in groups for entry in entries_of(group)),
        tokens=_tally(groups).tokens,
        version=state.version,
        omitted_messages=waiting.messages + whole.messages - within.messages,
        omitted_tokens=waiting.tokens + whole.tokens - within.tokens,
        flush_due=state.flush_due(limits),
    )


def unchanged_view(state: MemoryState, limits: Limits) -> StoredView:
    """Returns the answer to a reader who knows this version: no messages."""
    waiting = state.tallies[OVERFLOW]
    return StoredView((), 0, state.version, waiting.messages, waiting.tokens, flush_due=state.flush_due(limits))


def _edge(state: MemoryState, before_id: str, limits: Limits, resource: str) -> tuple[int, int]:
    """Returns where a message stands in the view; one that is no longer held counts as one of short_term."""
    group, number = state.find(before_id), state.number_of(before_id)
    if group is not None and number is not None:
        return _rank(group.entries[number].section, limits), group.number
    if number is None or number in state.where:
        raise refusals.before_unknown(resource)
    return _rank(SHORT_TERM, limits), number


def _rank(place: Place, limits: Limits) -> int:
    return limits.sections.index(limits.section_of(place))


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


def _shown(entry: StoredEntry, limits: Limits) -> StoredEntry:
    section = limits.section_of(entry.section)
    return entry if section == entry.section else entry._replace(section=section)


def _fit(groups: Sequence[Group], max_tokens: int | None, max_messages: int | None) -> list[Group]:
    """Returns what fits, in view order: system and pinned first, then summaries, then the conversation, newest back."""
    kept: set[int] = set()
    used = Tally()
    for group in _by_need(groups):
        used.change(group.tokens, group.messages)
        if not _exceeds(used, max_tokens, max_messages):
            kept.add(group.number)
            continue
        used.change(-group.tokens, -group.messages)
        if in_conversation(group.place) and not group.pinned:
            break
    return [group for group in groups if group.number in kept]


def _fit_shares(groups: Sequence[Group], limits: Limits) -> list[Group]:
    """Returns what fits its section's share, in view order; each section ends at the first group that does not fit."""
    kept: set[int] = set()
    full: set[Section] = set()
    used: defaultdict[Section, int] = defaultdict(int)
    messages = 0
    for group in _by_need(groups):
        section = limits.section_of(group.place)
        share, most = limits.share_of(section), limits.max_messages
        if section in full:
            continue
        if (share is None or used[section] + group.tokens <= share) and (
            most is None or messages + group.messages <= most
        ):
            used[section] += group.tokens
            messages += group.messages
            kept.add(group.number)
        elif in_conversation(group.place) and not group.pinned:
            full.add(section)
    return [group for group in groups if group.number in kept]


def _by_need(groups: Sequence[Group]) -> Iterator[Group]:
    """Yields what is needed most first: system, pinned, summaries, then the conversation from the newest back."""
    newest_first = sorted(groups, key=lambda group: -group.number)
    for privileged in (_is_system, _is_pinned, _is_summary):
        yield from filter(privileged, newest_first)
    yield from (group for group in newest_first if in_conversation(group.place) and not group.pinned)


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
    return group.place == SYSTEM


def _is_pinned(group: Group) -> bool:
    return group.pinned and in_conversation(group.place)


def _is_summary(group: Group) -> bool:
    return group.place == LONG_TERM


def _is_fixed(group: Group) -> bool:
    return _is_system(group) or _is_pinned(group)
