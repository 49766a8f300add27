"""One memory while it lives: its groups and the order of their eviction, its version, its lifetime, and its flush."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from durable_memory.memory.eviction.order import Rank, Standing
from durable_memory.memory.eviction.policies import POLICIES, SCORES_OF, next_moment
from durable_memory.memory.limits import Limits, PolicyName
from durable_memory.memory.stores.in_memory.calls import Calls
from durable_memory.memory.stores.in_memory.eviction_order import EvictionOrder
from durable_memory.memory.stores.in_memory.placed_groups import PlacedGroups
from durable_memory.memory.stores.in_memory.summaries import summaries_over
from durable_memory.memory.stores.in_memory.values import OVERFLOW, Group, Lease, StoredBatch, in_conversation
from durable_memory.memory.stores.values import StoredEntry
from durable_memory.memory.types import LONG_TERM, Section


class MemoryState(PlacedGroups):
    """One incarnation of a memory. Every change of a group goes through here, so that order and counters follow."""

    def __init__(self, incarnation: str, now_ms: int) -> None:
        super().__init__()
        self.incarnation = incarnation
        self.created_ms = now_ms
        self.updated_ms = now_ms
        self.expires_ms: int | None = None
        self.due_ms: int | None = None
        self.changes = 0
        self.tag = ""
        self.last_number = 0
        self.moment = 0
        self.fence = 0
        self.batch: StoredBatch | None = None
        self.lease: Lease | None = None
        self.flush_retry_ms = 0
        self.last_flush: tuple[int, str] | None = None
        self.calls = Calls()
        self._order = EvictionOrder()
        self._ruled_by: tuple[PolicyName, int] | None = None

    def successor(self) -> MemoryState:
        """Returns the same incarnation without its messages, its numbers going on: what a write fills."""
        state = MemoryState(self.incarnation, self.created_ms)
        state.changes, state.last_number, state.moment = self.changes, self.last_number, self.moment
        state.fence, state.last_flush, state.flush_retry_ms = self.fence, self.last_flush, self.flush_retry_ms
        state.due_ms = self.due_ms
        return state

    def reborn(self, incarnation: str) -> MemoryState:
        """Returns a copy as another incarnation, without a flush in progress: what a restore makes of a backup."""
        state = copy.deepcopy(self)
        state.incarnation, state.flush_retry_ms, state.due_ms = incarnation, 0, None
        state.end_batch()
        for group in {id(group): group for group in state.where.values()}.values():
            for number, entry in group.entries.items():
                group.entries[number] = entry._replace(id=state.id_of(number, entry.id.rpartition("-")[2]))
        return state

    # What it is

    @property
    def version(self) -> str:
        """The opaque version."""
        return f"{self.incarnation}:{self.changes}:{self.tag}"

    def leased_by(self, now_ms: int) -> str | None:
        """Returns which flush holds the lease now."""
        return self.lease.flush_id if self.lease is not None and now_ms < self.lease.until_ms else None

    def id_of(self, number: int, tag: str) -> str:
        """Returns the opaque id of a message."""
        return f"{self.incarnation}-{number}-{tag}"

    def find(self, message_id: str) -> Group | None:
        """Returns the group of a message that is live or waits in the overflow."""
        number = self.number_of(message_id) or 0
        group = self.where.get(number)
        return group if group is not None and group.entries[number].id == message_id else None

    def id_at(self, number: int) -> str:
        """Returns the id of a message that is live or waits in the overflow."""
        return self.where[number].entries[number].id

    def number_of(self, message_id: str) -> int | None:
        """Returns the number in an id of this incarnation."""
        incarnation, _, rest = message_id.partition("-")
        number = rest.partition("-")[0]
        return int(number) if incarnation == self.incarnation and number.isdecimal() else None

    # The order of eviction

    def conversation(self, now_ms: int, limits: Limits, section: Section | None = None) -> list[Standing]:
        """Returns the live groups of the conversation, oldest first, as a flush sees them.

        section: only those of this one.
        """
        policy, moment = POLICIES[limits.policy], next_moment(self.moment, now_ms)
        groups = self.groups_of_conversation() if section is None else self.groups_in(section, limits)
        return [
            Standing(
                Rank(
                    group.is_open(now_ms, limits),
                    policy.score_at_flush(group.score, moment, group.tokens),
                    group.number,
                ),
                group.tokens,
                group.messages,
                group.pinned,
            )
            for group in groups
        ]

    def evictable(self, now_ms: int, limits: Limits) -> Iterator[Standing]:
        """Yields the live groups that may be evicted, the next one first. `obey` these limits before."""
        for rank in self._order.ranks(self.where, limits, now_ms):
            group = self.where[rank.group]
            yield Standing(rank, group.tokens, group.messages)

    def obey(self, limits: Limits, now_ms: int) -> None:
        """Puts the order under another rule, if the declaration has changed it since the last change or access.

        Under another policy, the groups that are there count as appended anew, in the order in which they came.
        """
        rule = SCORES_OF[limits.policy], limits.open_group_ms
        if self._ruled_by == rule:
            return
        adopted = self._ruled_by is not None and self._ruled_by[0] != rule[0]
        for group in self.groups_of_conversation():
            if adopted:
                self._score_anew(group, limits, now_ms)
        for group in sorted(self.groups_of_conversation(), key=lambda group: group.touched_ms):
            self._rank(group)
        self._ruled_by = rule

    def obedient(self, limits: Limits, now_ms: int) -> MemoryState:
        """Returns itself under these limits, or a copy where that would be a change."""
        if self._ruled_by == (SCORES_OF[limits.policy], limits.open_group_ms):
            return self
        other = copy.deepcopy(self)
        other.obey(limits, now_ms)
        return other

    def access(self, group: Group, limits: Limits, now_ms: int) -> None:
        """Records an access to a live group, if the policy cares for accesses."""
        policy = POLICIES[limits.policy]
        if not in_conversation(group.place) or not policy.uses_accesses:
            return
        self.obey(limits, now_ms)
        self.moment = next_moment(self.moment, now_ms)
        group.score = policy.score_at_access(group.score, self.moment)
        if not group.pinned:
            self._order.rescore(group)

    def _score_anew(self, group: Group, limits: Limits, now_ms: int) -> None:
        self.moment = next_moment(self.moment, now_ms)
        group.score = POLICIES[limits.policy].score_at_append(group.number, self.moment, group.band)

    def _rank(self, group: Group) -> None:
        if in_conversation(group.place) and not group.pinned:
            self._order.place(group)

    # Changes

    def add(self, group: Group, number: int, entry: StoredEntry) -> None:
        """Puts a message into a group, which may be new, at the place of the group."""
        self._put_message(group, number, entry)
        self._rank(group)

    def pin(self, group: Group, limits: Limits, now_ms: int, *, pinned: bool) -> None:
        """Pins a live group of the conversation, or unpins it, which makes it count as appended anew.

        A flush in progress that holds it ends with its pin.
        """
        self.obey(limits, now_ms)
        self._mark_pinned(group, pinned=pinned)
        if not pinned:
            self._score_anew(group, limits, now_ms)
            self._rank(group)
            return
        self._order.remove(group)
        if self.batch is not None and not self.batch.held.isdisjoint(group.entries):
            self.end_batch()

    def evict(self, group: Group) -> None:
        """Moves a live group into the overflow."""
        self._lift(group)
        group.place = OVERFLOW
        # A remnant of the same group cannot wait there: results only leave for the overflow after their group.
        self._put(group)

    def remove(self, group: Group, until_ms: int) -> None:
        """Takes a group out for good. A flush in progress that holds a message of it ends."""
        if group.place == OVERFLOW:
            self._take(group)
        else:
            self._lift(group)
        for number in group.entries:
            del self.where[number]
        self.calls.forget_after(until_ms, group.number, group.opens)
        if self.batch is not None and not self.batch.held.isdisjoint(group.entries):
            self.end_batch()

    def consume(self, group: Group, numbers: frozenset[int], until_ms: int) -> None:
        """Takes these messages of a group out. What else joined the group stays, in the overflow."""
        if numbers.issuperset(group.entries):
            self.remove(group, until_ms)
            return
        if group.place != OVERFLOW:
            self.evict(group)
        for number in numbers.intersection(group.entries):
            self._take_message(group, number)

    def end_batch(self) -> None:
        """Drops the flush in progress, its draft and its lease."""
        self.batch = None
        self.lease = None

    def changed(self, tag: str, now_ms: int) -> None:
        """Gives the memory its next version."""
        self.changes += 1
        self.tag = tag
        self.updated_ms = now_ms

    def _lift(self, group: Group) -> None:
        self._take(group)
        self._order.remove(group)
        if group.waiting:
            self.calls.leave(group.number, group.waiting)
        else:
            self.calls.forget(group.opens)
            group.opens = ()

    # Lifetime, and since when a flush is due

    def written(self, now_ms: int, limits: Limits) -> None:
        """Renews the lifetime: only what clients write does."""
        self.expires_ms = None if limits.ttl_ms is None else now_ms + limits.ttl_ms
        self.note_due(now_ms, limits)

    def note_due(self, now_ms: int, limits: Limits) -> None:
        """Notes since when a flush is due."""
        if not self.flush_due(limits):
            self.due_ms = None
        elif self.due_ms is None:
            self.due_ms = now_ms

    def note_due_anew(self, now_ms: int, limits: Limits) -> None:
        """Does so where a flush has ended: the wait begins anew."""
        self.due_ms = None
        self.note_due(now_ms, limits)

    def was_read(self, now_ms: int, limits: Limits) -> None:
        """Prolongs the lifetime, and never shortens it."""
        if self.expires_ms is not None and limits.ttl_ms is not None:
            self.expires_ms = max(self.expires_ms, now_ms + limits.ttl_ms)

    def flush_due(self, limits: Limits) -> bool:
        """Tells whether a flush is due: a level, not a crossing."""
        outside = self.outside
        return (
            bool(self.groups[OVERFLOW])
            or any(
                share.due_tokens is not None and self.fill(share.section, limits).tokens >= share.due_tokens
                for share in limits.shares
            )
            or (limits.due_tokens is not None and outside.tokens >= limits.due_tokens)
            or (limits.due_messages is not None and outside.messages >= limits.due_messages)
            or summaries_over(self.tallies[LONG_TERM], self.fixed, limits)
        )
