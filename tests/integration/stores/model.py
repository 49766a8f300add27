"""A second opinion: one memory as plain lists, slow and obvious, that a store is compared with step by step.

It knows nothing of numbers, versions, keys or scripts. Texts identify messages, so each text may be used once.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from durable_memory.memory.errors import MemoryBackpressure, MemoryOrphanResult, MemoryOversize
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.values import Entry
from durable_memory.testing.builders import text_of
from tests.integration.stores.model_values import Group, Kept, Refused, Summary, Taken, first_groups


class ModelMemory:
    """One memory, or its absence (`exists`). removed: texts that were taken out on purpose, over all its lives."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.removed: list[str] = []
        self.end()

    def end(self) -> None:
        """Clear, or the end of the lifetime."""
        self.removed += self.texts() if hasattr(self, "live") else []
        self.exists = False
        self.live: list[Kept] = []
        self.overflow: list[Kept] = []
        self.summaries: list[Summary] = []
        self.calls: list[tuple[str, Group]] = []
        self.batch: Taken | None = None
        self.lease: str | None = None
        self.moment = 0

    def texts(self) -> list[str]:
        """Every text that is somewhere: live, waiting, covered."""
        return [kept.text for kept in self.live + self.overflow] + [t for s in self.summaries for t in s.cover]

    # Counters

    def outside(self) -> tuple[int, int]:
        """Tokens and messages of all that is live but the summaries."""
        return sum(kept.tokens for kept in self.live), len(self.live)

    def section(self, name: str) -> tuple[int, int]:
        """Tokens and messages of a section."""
        if name == "long_term":
            return sum(s.tokens for s in self.summaries), len(self.summaries)
        kept = [kept for kept in self.live if kept.group.section == name]
        return sum(one.tokens for one in kept), len(kept)

    def total(self) -> tuple[int, int]:
        """Tokens and messages of the live view."""
        tokens, messages = self.outside()
        return tokens + sum(s.tokens for s in self.summaries), messages + len(self.summaries)

    def omitted(self) -> tuple[int, int]:
        """Tokens and messages of the overflow."""
        return sum(kept.tokens for kept in self.overflow), len(self.overflow)

    def due(self) -> bool:
        """Whether a flush is due."""
        tokens, messages = self.outside()
        return (
            bool(self.overflow)
            or _reaches(tokens, self.limits.due_tokens)
            or _reaches(messages, self.limits.due_messages)
        )

    # Views

    def groups(self, section: str) -> list[Group]:
        """The live groups of a section, oldest first."""
        found = {id(kept.group): kept.group for kept in self.live if kept.group.section == section}
        return sorted(found.values(), key=lambda group: group.age)

    def members(self, group: Group) -> list[Kept]:
        """The live messages of a group."""
        return [kept for kept in self.live if kept.group is group]

    def view(self) -> list[list[tuple[str, int]]]:
        """The whole view: blocks of texts with their tokens; open groups are left out."""
        system, conversation = (
            [
                [(kept.text, kept.tokens) for kept in self.members(group)]
                for group in self.groups(section)
                if not group.waiting
            ]
            for section in ("system", "short_term")
        )
        return [*system, *([(s.text, s.tokens)] for s in self.summaries), *conversation]

    def view_of_newest(self, limit: int) -> list[list[tuple[str, int]]]:
        """The newest blocks, together at most so many messages."""
        shown: list[list[tuple[str, int]]] = []
        for block in reversed(self.view()):
            if sum(map(len, shown)) + len(block) > limit:
                break
            shown.insert(0, block)
        return shown

    def view_within(self, tokens: int) -> list[list[tuple[str, int]]]:
        """System, pinned, then the summary if it fits, then the newest of the conversation until one does not fit."""
        visible = [g for section in ("system", "short_term") for g in self.groups(section) if not g.waiting]
        fixed = [g for g in visible if g.section == "system" or g.pinned]
        left = tokens - sum(kept.tokens for group in fixed for kept in self.members(group))
        if left < 0:
            raise Refused(MemoryOversize)
        shown = [kept.text for group in fixed for kept in self.members(group)]
        for summary in self.summaries:
            if summary.tokens <= left:
                left -= summary.tokens
                shown.append(summary.text)
        for group in reversed([g for g in visible if g not in fixed]):
            left -= sum(kept.tokens for kept in self.members(group))
            if left < 0:
                break
            shown += [kept.text for kept in self.members(group)]
        return [block for block in self.view() if block[0][0] in shown]

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

    def fixed_exceeds(self) -> bool:
        """Whether what never goes fills more than messages may."""
        fixed = [kept for kept in self.live if kept.group.section == "system" or kept.group.pinned]
        return _exceeds(sum(kept.tokens for kept in fixed), self.limits.room_tokens) or _exceeds(
            len(fixed), self.limits.room_messages
        )

    def delete(self, text: str) -> list[str]:
        """Removes the group of a message, or a summary; returns the texts that are gone with it."""
        groups = [kept.group for kept in self.live + self.overflow if kept.text == text]
        gone = [kept for kept in self.live + self.overflow if kept.group in groups]
        summaries = [s for s in self.summaries if s.text == text]
        if self.batch and (
            any(kept in gone for kept in self.batch.messages) or any(s in summaries for s in self.batch.summaries)
        ):
            self.batch = self.lease = None
        self.live = [kept for kept in self.live if kept not in gone]
        self.overflow = [kept for kept in self.overflow if kept not in gone]
        self.summaries = [s for s in self.summaries if s not in summaries]
        self.removed += [kept.text for kept in gone] + [t for s in summaries for t in s.cover]
        return [kept.text for kept in gone] + [s.text for s in summaries]

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
        return _exceeds(tokens - sum(kept.tokens for kept in members), self.limits.target_tokens) or _exceeds(
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
        if messages:
            self.batch = Taken(owner, messages, list(self.summaries))
            self.lease = owner
        return bool(messages)

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
        self.batch = self.lease = None
        return [kept.text for kept in batch.messages]

    def drop(self, *, force: bool, most: int | None = None, taken_first: Sequence[str] = ()) -> list[str]:
        """The flush of a memory that drops."""
        gone = self.bounded(force=force, most=most, taken_first=taken_first)
        self.live = [kept for kept in self.live if kept not in gone]
        self.removed += [kept.text for kept in gone]
        return [kept.text for kept in gone]

    # Inside

    def place_all(self, entries: Sequence[Entry]) -> tuple[int, int]:
        """Appends; what was refused half-way leaves a memory to be thrown away."""
        self.exists = True
        before = len(self.live)
        late = [kept for entry in entries if (kept := self._place(entry))]
        arrived = [kept.group for kept in self.live[before:] if kept.group.section == "short_term"]
        evicted = self._evict(arrived[-1:])
        leaving = evicted + late
        if not self.limits.summarize:
            self.removed += [kept.text for kept in leaving]
            return len(evicted), len(late)
        waiting = self.omitted()
        arriving = (sum(kept.tokens for kept in leaving), len(leaving))
        for there, coming, limit in zip(
            waiting, arriving, (self.limits.overflow_tokens, self.limits.overflow_messages), strict=True
        ):
            if coming and _exceeds(coming, limit):
                raise Refused(MemoryOversize)
            if coming and _exceeds(there + coming, limit):
                raise Refused(MemoryBackpressure)
        self.overflow += leaving
        return len(evicted), len(late)

    def _place(self, entry: Entry) -> Kept | None:
        """Puts a message into its group; returns it if its group is no longer live."""
        if _exceeds(entry.tokens, self.limits.room_tokens):
            raise Refused(MemoryOversize)
        if entry.answers is None:
            self.moment += 1
            group = Group(entry.section, entry.pinned, entry.band, self.moment, self.moment, waiting=list(entry.opens))
            self.calls += [(call, group) for call in entry.opens]
            self.live.append(Kept(text_of(entry), entry.tokens, group))
            return None
        open_calls = [group for call, group in self.calls if call == entry.answers and call in group.waiting]
        live = [group for group in open_calls if any(kept.group is group for kept in self.live)]
        if not open_calls:
            raise Refused(MemoryOrphanResult)
        group = (live or open_calls)[0]
        group.waiting.remove(entry.answers)
        kept = Kept(text_of(entry), entry.tokens, group)
        if not live:
            return kept
        self.live.append(kept)
        self.moment += 1
        group.used = self.moment
        members = self.members(group)
        if _exceeds(sum(one.tokens for one in members), self.limits.room_tokens):
            raise Refused(MemoryOversize)
        return None

    def _access(self, group: Group) -> None:
        self.moment += 1
        group.used, group.uses = self.moment, group.uses + 1

    def _evict(self, last_said: list[Group]) -> list[Kept]:
        if self.fixed_exceeds():
            raise Refused(MemoryOversize)
        fixed = [kept for kept in self.live if kept.group.section == "system" or kept.group.pinned]
        evicted: list[Kept] = []
        policy = self.limits.policy
        queue = sorted({kept.group for kept in self.live if kept not in fixed}, key=lambda group: group.rank(policy))
        if policy in {"lfu", "priority"}:
            # What was just said is spared: it goes behind all others of its kind, the closed or the open ones.
            queue.sort(key=lambda group: (bool(group.waiting), group in last_said))
        for group in queue:
            tokens, messages = self.outside()
            if not _exceeds(tokens, self.limits.room_tokens) and not _exceeds(messages, self.limits.room_messages):
                break
            evicted += self.members(group)
            self.live = [kept for kept in self.live if kept.group is not group]
        return evicted


def _reaches(number: int, level: int | None) -> bool:
    return level is not None and number >= level


def _exceeds(number: int, limit: int | None) -> bool:
    return limit is not None and number > limit
