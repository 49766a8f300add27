"""Flushing: what a batch takes, and what its commit does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from durable_memory.memory.eviction.order import Blocked, Excess, blocked_by, select_for_flush
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.in_memory.values import Group, Ranges, StoredBatch
from durable_memory.memory.stores.port import Batch, Entry, Stopped, StoredEntry


@dataclass(frozen=True, slots=True)
class Selection:
    """What a flush takes: groups of the conversation and all of the overflow; if none, why."""

    groups: tuple[Group, ...]
    blocked: Blocked

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the selected messages, in order."""
        return tuple(sorted(number for group in self.groups for number in group.entries))


def select(state: MemoryState, limits: Limits, *, force: bool, now_ms: int) -> Selection:
    """Chooses what a flush takes now. Changes nothing."""
    if not force and not state.flush_due(limits):
        return Selection((), "below_threshold")
    outside = state.outside
    excess = Excess.over(outside.tokens, outside.messages, limits.target_tokens, limits.target_messages)
    conversation = state.conversation(now_ms, limits)
    keep_first, keep_last = limits.keep_first, limits.keep_last
    taken = select_for_flush(conversation, excess=excess, force=force, keep_first=keep_first, keep_last=keep_last)
    return Selection(
        (*(state.where[standing.rank.group] for standing in taken), *state.groups["overflow"].values()),
        blocked_by(
            conversation,
            wanted=force or bool(excess),
            system=bool(state.groups["system"]),
            keep_first=keep_first,
            keep_last=keep_last,
        ),
    )


def stored_batch(state: MemoryState | None, batch: Batch) -> StoredBatch | Stopped:
    """Returns the stored batch if it is the one that the caller means."""
    if state is None:
        return "gone"
    stored = state.batch
    if stored is None:
        return "stale"
    mine = (batch.incarnation, batch.fence, batch.owner, batch.id)
    there = (stored.batch.incarnation, stored.batch.fence, stored.batch.owner, stored.batch.id)
    return stored if mine == there else "stale"


def busy_for_ms(state: MemoryState, owner: str, now_ms: int, *, force: bool) -> int:
    """Returns how long this owner has to wait before it may begin."""
    if state.lease is not None and state.lease_owner(now_ms) not in {None, owner}:
        return state.lease.until_ms - now_ms
    return 0 if force else max(0, state.flush_retry_ms - now_ms)


def note_batch(state: MemoryState, selection: Selection, *, owner: str, batch_id: str, limits: Limits) -> StoredBatch:
    """Returns the batch of this selection under the next fence, with all old summaries in it.

    The room of summaries is exactly that of one, so an old one never stands beside a new one.
    """
    state.fence += 1
    summaries, numbers = tuple(state.groups["long_term"]), selection.numbers
    batch = Batch(
        incarnation=state.incarnation,
        fence=state.fence,
        owner=owner,
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
    summary = StoredEntry(state.id_of(number, tag), draft.payload, "long_term", draft.tokens)
    state.add(Group(number, "long_term", covers=joined(covered)), number, summary)
    return removed, summary.id


def joined(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Returns the same numbers in as few ranges as possible."""
    result: Ranges = []
    for first, last in sorted(ranges):
        if result and first <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        else:
            result.append((first, last))
    return result


def _distinct(groups: Iterable[Group]) -> list[Group]:
    return list({id(group): group for group in groups}.values())
