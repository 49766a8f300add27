"""Flushing: what a batch takes, and what its commit does."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from durable_memory.memory.eviction.order import Excess, Standing, blocked_by, kept_ends, select_for_flush
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.in_memory.summaries import summaries_leaving, summaries_over
from durable_memory.memory.stores.in_memory.values import OVERFLOW, Group, Ranges, StoredBatch
from durable_memory.memory.stores.values import MOST_RANGES, Batch, Entry, Stopped, StoredEntry
from durable_memory.memory.types import LONG_TERM, SHORT_TERM, SYSTEM, FlushReason, Section


@dataclass(frozen=True, slots=True)
class Selection:
    """What a flush takes: groups of the conversation and all of the overflow; if none, why.

    Where the memory drops, summaries of before as well, if they are above their room. shrinks: they are, and the memory
    summarises, so a flush makes them one, even of nothing else.
    """

    groups: tuple[Group, ...]
    blocked: FlushReason
    shrinks: bool = False

    @property
    def takes_nothing(self) -> bool:
        """Whether there is no flush to begin."""
        return not self.groups and not self.shrinks

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the selected messages, in order."""
        return tuple(sorted(number for group in self.groups for number in group.entries))


def select(
    state: MemoryState, limits: Limits, *, force: bool, now_ms: int, max_messages: int | None = None
) -> Selection:
    """Chooses what a flush takes now, at most so many messages beside summaries. Changes nothing."""
    selection = _select(state, limits, force=force, now_ms=now_ms)
    if max_messages is not None:
        selection = _bounded(selection, max_messages)
    summaries = state.groups[LONG_TERM].values()
    over = summaries_over(state.tallies[LONG_TERM], state.fixed, limits)
    leaving = summaries_leaving(summaries, state.fixed, limits)
    return replace(selection, groups=(*leaving, *selection.groups), shrinks=over and limits.summarize)


def _bounded(selection: Selection, max_messages: int) -> Selection:
    """Cuts a selection by whole groups: what waits goes first, then the groups in their order."""
    waiting = sorted((group for group in selection.groups if group.place == OVERFLOW), key=lambda one: one.number)
    taken: list[Group] = []
    left = max_messages
    for group in (*waiting, *(group for group in selection.groups if group.place != OVERFLOW)):
        left -= group.messages
        if left < 0:
            break
        taken.append(group)
    return Selection(tuple(taken), "max_messages" if selection.groups else selection.blocked)


def summaries_along(state: MemoryState, limits: Limits) -> tuple[int, ...]:
    """Returns the old summaries that a flush summarises along.

    Without a share of their own, the room of summaries is as large as one. With a share, the old ones stay while the
    next would stand beside them. A limit of messages keeps room for one alone.
    """
    share = limits.share_of(LONG_TERM)
    stored = state.tallies[LONG_TERM].tokens
    beside = share is not None and limits.max_messages is None and stored + limits.summary_tokens <= share
    return () if beside else tuple(state.groups[LONG_TERM])


def _select(state: MemoryState, limits: Limits, *, force: bool, now_ms: int) -> Selection:
    if not force and not state.flush_due(limits):
        return Selection((), "below_threshold")
    outside = state.outside
    excess = Excess.over(
        outside.tokens, outside.messages, None if limits.shares else limits.target_tokens, limits.target_messages
    )
    talk = state.conversation(now_ms, limits, SHORT_TERM)
    kept = kept_ends(talk, keep_first=limits.keep_first, keep_last=limits.keep_last)
    taken: list[Standing] = []
    reasons: list[FlushReason] = []

    def take_from(section: Section | None, excess: Excess, *, closed_only: bool = False) -> None:
        gone = {one.rank.group for one in taken}
        standing = [one for one in state.conversation(now_ms, limits, section) if one.rank.group not in gone]
        may_go = [one for one in standing if not (closed_only and one.rank.open)]
        taken.extend(select_for_flush(may_go, excess=excess, force=force, kept=kept))
        system = bool(state.groups[SYSTEM])
        reasons.append(blocked_by(standing, wanted=force or bool(excess), system=system, kept=kept))

    for share in limits.shares:
        # A section is flushed when it has reached its own threshold: another one's is no reason.
        fill = state.fill(share.section, limits)
        if not force and share.due_tokens is not None and fill.tokens >= share.due_tokens:
            take_from(share.section, Excess.over(fill.tokens, 0, share.target_tokens, None))
    take_from(None, Excess(excess.tokens, excess.messages - sum(one.messages for one in taken)))
    # A share such as 0.55 is no exact number: 55 of 100 are enough.
    least = math.ceil(limits.oldest_share * sum(one.messages for one in state.conversation(now_ms, limits)) - 1e-9)
    take_from(None, Excess(0, least - sum(one.messages for one in taken)), closed_only=True)
    return Selection(
        (*(state.where[one.rank.group] for one in taken), *state.groups[OVERFLOW].values()),
        min(reasons, key=("keep", "pinned", "below_threshold").index),
    )


def stored_batch(state: MemoryState | None, batch: Batch) -> StoredBatch | Stopped:
    """Returns the stored batch if it is the one that the caller means."""
    if state is None:
        return "gone"
    stored = state.batch
    if stored is None:
        return "stale"
    mine = (batch.incarnation, batch.fence, batch.flush_id, batch.id)
    there = (stored.batch.incarnation, stored.batch.fence, stored.batch.flush_id, stored.batch.id)
    return stored if mine == there else "stale"


def busy_for_ms(state: MemoryState, flush_id: str, now_ms: int, limits: Limits, *, force: bool) -> int:
    """Returns how long this flush has to wait before it may begin. A clock that went back makes nobody wait longer."""
    if state.lease is not None and state.leased_by(now_ms) not in {None, flush_id}:
        return min(state.lease.seen_at(now_ms).until_ms - now_ms, limits.lease_ms)
    if force or (state.last_flush is not None and state.last_flush[0] > now_ms):
        return 0
    return max(0, state.flush_retry_ms - now_ms)


def note_batch(
    state: MemoryState, selection: Selection, *, flush_id: str, batch_id: str, limits: Limits
) -> StoredBatch:
    """Returns the batch of this selection under the next fence, with the old summaries that go along."""
    state.fence += 1
    summaries, numbers = summaries_along(state, limits), selection.numbers
    batch = Batch(
        incarnation=state.incarnation,
        fence=state.fence,
        flush_id=flush_id,
        id=batch_id,
        messages=len(numbers),
        tokens=sum(group.tokens for group in selection.groups),
        summary_max=limits.summary_tokens,
    )
    return StoredBatch(batch, summaries, numbers, frozenset((*summaries, *numbers)))


def replace_by_summary(
    state: MemoryState, stored: StoredBatch, draft: Entry, *, tag: str, until_ms: int
) -> tuple[tuple[str, ...], str]:
    """Removes the messages and summaries of the batch, wherever they are now, and adds their summary.

    Results that joined a batched group since `begin` move to the overflow. Returns the ids of the removed messages
    and that of the summary.
    """
    removed = tuple(state.id_at(number) for number in stored.numbers)
    covered: Ranges = [(number, number) for number in (*stored.summaries, *stored.numbers)]
    for number in stored.summaries:
        covered.extend(state.where[number].covers)
    state.end_batch()
    for group in _distinct(state.where[number] for number in (*stored.summaries, *stored.numbers)):
        state.consume(group, stored.held, until_ms)
    state.last_number += 1
    number = state.last_number
    summary = StoredEntry(state.id_of(number, tag), draft.payload, LONG_TERM, draft.tokens)
    state.add(Group(number, LONG_TERM, covers=joined(covered)), number, summary)
    return removed, summary.id


def joined(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Returns the same numbers in as few ranges as possible; of more than MOST_RANGES the oldest are one."""
    result: Ranges = []
    for first, last in sorted(ranges):
        if result and first <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        else:
            result.append((first, last))
    oldest, latest = result[: 1 - MOST_RANGES], result[1 - MOST_RANGES :]
    return [(oldest[0][0], oldest[-1][1]), *latest] if oldest else result


def _distinct(groups: Iterable[Group]) -> list[Group]:
    return list({id(group): group for group in groups}.values())
