"""A second opinion: one memory as plain lists, slow and obvious, that a store is compared with step by step.

It knows nothing of numbers, versions, keys or scripts. Texts identify messages, so each text may be used once.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from durable_memory.memory.errors import MemoryBackpressure, MemoryOrphanResult, MemoryOversize
from durable_memory.memory.stores.values import Entry
from durable_memory.testing.contracts.builders import text_of
from tests.integration.stores.model_state import ModelState
from tests.integration.stores.model_values import Group, Kept, Refused, Summary, Taken, exceeds, first_groups, size_of


class ModelMemory(ModelState):
    """One memory, or its absence, and all that may happen to it."""

    # Changes by clients

    def append(self, entries: Sequence[Entry]) -> tuple[int, int]:
        """Appends all or raises Refused; returns how many were evicted and how many were late."""
        trial = copy.deepcopy(self)
        counts = trial.place_all(entries)
        self.__dict__ = trial.__dict__
        return counts

    def write(self, entries: Sequence[Entry]) -> tuple[int, int]:
        """Replaces everything or raises Refused."""
        trial = copy.deepcopy(self)
        moment = trial.moment
        trial.end()
        trial.moment = moment
        counts = trial.place_all(entries)
        self.__dict__ = trial.__dict__
        return counts

    def access(self, text: str) -> bool:
        """An access to a live message; False if it is not live."""
        for kept in self.live:
            if kept.text == text:
                self._access(kept.group)
                return True
        return False

    def pin(self, text: str, *, pinned: bool) -> bool:
        """Pins or unpins the group of a live message; False if it is not live."""
        for kept in self.live:
            if kept.text == text:
                if kept.group.section != "system" and kept.group.pinned != pinned:
                    self._pin(kept.group, pinned=pinned)
                return True
        return False

    def _pin(self, group: Group, *, pinned: bool) -> None:
        group.pinned = pinned
        if not pinned:
            self._access(group)
            group.uses = 1
        elif self.batch and any(kept.group is group for kept in self.batch.messages):
            self.batch = self.lease = None

    def delete(self, text: str) -> list[str]:
        """Removes the group of a message, or a summary; returns the texts that are gone with it."""
        groups = [kept.group for kept in self.live + self.overflow if kept.text == text]
        gone = [kept for kept in self.live + self.overflow if kept.group in groups]
        summaries = [s for s in self.summaries if s.text == text]
        return self._remove(gone, summaries)

    def _remove(self, gone: Sequence[Kept], summaries: Sequence[Summary]) -> list[str]:
        """Takes these out for good, and ends a flush that holds one of them; returns their texts."""
        if self.batch and (
            any(kept in gone for kept in self.batch.messages) or any(s in summaries for s in self.batch.summaries)
        ):
            self.batch = self.lease = None
        self.live = [kept for kept in self.live if kept not in gone]
        self.overflow = [kept for kept in self.overflow if kept not in gone]
        self.summaries = [s for s in self.summaries if s not in summaries]
        self.removed += [kept.text for kept in gone] + [t for s in summaries for t in s.cover]
        return [kept.text for kept in gone] + [s.text for s in summaries]

    def _yielding(self, tokens: int, messages: int) -> list[Summary]:
        """The oldest summaries, which go where the memory drops so that the others fit beside so much."""
        trial = copy.copy(self)
        while not self.limits.summarize and trial.summaries_exceed(tokens, messages):
            trial.summaries = trial.summaries[1:]
        return self.summaries[: len(self.summaries) - len(trial.summaries)]

    # The flush

    def select(self, *, force: bool, taken_first: Sequence[str]) -> list[Kept]:
        """What a flush takes now. taken_first: what it says that it took, for an order that the clock decides."""
        if not force and not self.due():
            return []
        conversation = self.groups("short_term")
        middle = conversation[self.limits.keep_first : max(0, len(conversation) - self.limits.keep_last)]
        queue = sorted(
            (group for group in middle if not group.pinned), key=lambda group: group.rank(self.limits.policy)
        )
        if self.limits.policy == "token_aware_lru" and not force:
            queue = self._as_the_clock_says(queue, taken_first)
        taken: list[Group] = []
        for group in queue:
            if group.waiting if force else not self._wants_more(taken, group):
                continue
            taken.append(group)
        return [kept for kept in self.live if kept.group in taken] + self.overflow

    def _as_the_clock_says(self, queue: list[Group], taken_first: Sequence[str]) -> list[Group]:
        """Puts first what was taken, if it may be: nothing that stays is both larger and longer unused."""
        taken = [group for group in queue if any(kept.text in taken_first for kept in self.members(group))]
        left = [group for group in queue if group not in taken and not group.waiting]
        size = {group: sum(kept.tokens for kept in self.members(group)) for group in queue}
        for group in taken:
            assert group.waiting or not any(other.used <= group.used and size[other] > size[group] for other in left), (
                "a flush took a group before one that is larger and longer unused"
            )
        # One of them was the last, without which the target would not have been reached; open ones come after all.
        ending = [g for g in taken if self._wants_more([other for other in taken if other is not g], g)]
        ending.sort(key=lambda group: bool(group.waiting))
        return sorted(taken, key=lambda group: group is ending[-1]) if ending else []

    def _wants_more(self, gone: list[Group], group: Group) -> bool:
        """Whether a flush that took these takes the next one too: of open groups, only for its target."""
        tokens, messages = self.outside()
        members = [kept for group in gone for kept in self.members(group)]
        least = self.limits.oldest_share * self.section("short_term")[1]
        if not group.waiting and len(members) < least:
            return True
        return exceeds(tokens - sum(kept.tokens for kept in members), self.limits.target_tokens) or exceeds(
            messages - len(members), self.limits.target_messages
        )

    def bounded(self, *, force: bool, most: int | None, taken_first: Sequence[str]) -> list[Kept]:
        """What a flush takes of at most so many messages: what waits, then groups in the order in which they go."""
        selected = self.select(force=force, taken_first=taken_first)
        waiting = sorted((kept for kept in selected if kept in self.overflow), key=lambda kept: kept.group.age)
        going = sorted(
            (kept for kept in selected if kept in self.live), key=lambda kept: kept.group.rank(self.limits.policy)
        )
        return [*waiting, *going] if most is None else first_groups([*waiting, *going], self.live, most)

    def begin(self, owner: str, *, force: bool, most: int | None = None, taken_first: Sequence[str] = ()) -> bool:
        """Takes a batch under a new lease; False if there is nothing to take."""
        messages = self.bounded(force=force, most=most, taken_first=taken_first)
        if not messages and not (self.summaries_over() and (force or self.due())):
            return False
        self.batch = Taken(owner, messages, list(self.summaries))
        self.lease = owner
        return True

    def commit(self) -> list[str]:
        """Replaces the batch by its draft; returns the texts of the removed messages."""
        assert self.batch is not None
        assert self.batch.draft is not None
        batch, draft = self.batch, self.batch.draft
        cover = [t for s in batch.summaries for t in s.cover] + [kept.text for kept in batch.messages]
        groups = [kept.group for kept in batch.messages]
        joined = [kept for kept in self.live if kept.group in groups and kept not in batch.messages]
        self.live = [kept for kept in self.live if kept.group not in groups]
        self.overflow = [kept for kept in self.overflow if kept not in batch.messages] + joined
        self.summaries = [s for s in self.summaries if s not in batch.summaries]
        self.summaries.append(Summary(text_of(draft), draft.tokens, cover))
        self.number += 1
        self.batch = self.lease = None
        return [kept.text for kept in batch.messages]

    def drop(self, *, force: bool, most: int | None = None, taken_first: Sequence[str] = ()) -> list[str]:
        """The flush of a memory that drops."""
        gone = self.bounded(force=force, most=most, taken_first=taken_first)
        return self._remove(gone, self._yielding(*size_of(self.fixed())))

    # Inside

    def place_all(self, entries: Sequence[Entry]) -> tuple[int, int]:
        """Appends; what was refused half-way leaves a memory to be thrown away."""
        self.exists = True
        before, held = list(self.live), self.outside()
        late = [kept for entry in entries if (kept := self._place(entry, before))]
        arrived = [kept.group for kept in self.live[len(before) :] if kept.group.section == "short_term"]
        if len(self.live) > len(before) and self.fixed_exceeds():
            raise Refused(MemoryOversize)
        needed = [kept for kept in self.live if kept in self.fixed() or kept.group in arrived]
        yielding = self._yielding(*size_of(needed))
        self._remove([], yielding)
        evicted = self._evict(arrived[-1:])
        leaving = evicted + late
        if not self.limits.summarize:
            self._remove(evicted, [])
            self.removed += [kept.text for kept in late]
            return len(evicted) + len(yielding), len(late)
        self._check_overflow(leaving, held)
        self.overflow += leaving
        return len(evicted), len(late)

    def _check_overflow(self, leaving: Sequence[Kept], held: tuple[int, int]) -> None:
        """Refuses what the overflow cannot take, but for what stood above the room before."""
        rooms = (self.limits.room_tokens, self.limits.room_messages)
        limits = (self.limits.overflow_tokens, self.limits.overflow_messages)
        above = [0 if room is None else max(0, had - room) for had, room in zip(held, rooms, strict=True)]
        coming = [size - free for size, free in zip(size_of(leaving), above, strict=True)]
        if leaving and any(exceeds(size, limit) for size, limit in zip(coming, limits, strict=True)):
            raise Refused(MemoryOversize)
        for size, there, limit in zip(coming, self.omitted(), limits, strict=True):
            if leaving and exceeds(there + size, limit):
                raise Refused(MemoryBackpressure)

    def _place(self, entry: Entry, before: Sequence[Kept]) -> Kept | None:
        """Puts a message into its group; returns it if its group is no longer live."""
        if exceeds(entry.tokens, self.limits.room_tokens):
            raise Refused(MemoryOversize)
        self.number += 1
        if entry.answers is None:
            self.moment += 1
            kind = (entry.section, entry.pinned, entry.band)
            group = Group(self.number, *kind, self.moment, self.moment, waiting=list(entry.opens))
            self.calls += [(call, group) for call in entry.opens]
            self.live.append(Kept(text_of(entry), entry.tokens, group))
            return None
        open_calls = [group for call, group in self.calls if call == entry.answers and call in group.waiting]
        live = [group for group in open_calls if any(kept.group is group for kept in self.live)]
        if not open_calls:
            raise Refused(MemoryOrphanResult)
        own = [group for group in live if all(kept.group is not group for kept in before)]
        group = own[0] if own else _first_of_the_newest_row(live or open_calls)
        group.waiting.remove(entry.answers)
        kept = Kept(text_of(entry), entry.tokens, group)
        if not live:
            return kept
        self.live.append(kept)
        self.moment += 1
        group.used = self.moment
        rooms = (self.limits.room_tokens, self.limits.room_messages)
        was = size_of([one for one in before if one.group is group])
        for size, had, room in zip(size_of(self.members(group)), was, rooms, strict=True):
            if exceeds(size, room) and not exceeds(had, room):
                raise Refused(MemoryOversize)
        return None

    def _access(self, group: Group) -> None:
        self.moment += 1
        group.used, group.uses = self.moment, group.uses + 1

    def _evict(self, last_said: list[Group]) -> list[Kept]:
        fixed = self.fixed()
        taken_tokens, taken_messages = (0, 0) if self.limits.summarize else self.section("long_term")
        evicted: list[Kept] = []
        policy = self.limits.policy
        queue = sorted({kept.group for kept in self.live if kept not in fixed}, key=lambda group: group.rank(policy))
        if policy in {"lfu", "priority"}:
            # What was just said is spared: it goes behind all others of its kind, the closed or the open ones.
            queue.sort(key=lambda group: (bool(group.waiting), group in last_said))
        for group in queue:
            tokens, messages = self.outside()
            if not exceeds(tokens + taken_tokens, self.limits.room_tokens) and not exceeds(
                messages + taken_messages, self.limits.room_messages
            ):
                break
            evicted += self.members(group)
            self.live = [kept for kept in self.live if kept.group is not group]
        return evicted


def _first_of_the_newest_row(groups: Sequence[Group]) -> Group:
    """Of groups, oldest first: the first of the last ones whose first messages came directly one after the other."""
    numbers = [group.number for group in groups]
    begins = [at for at in range(1, len(groups)) if numbers[at] > numbers[at - 1] + 1]
    return groups[begins[-1] if begins else 0]
