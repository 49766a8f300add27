"""Plans an append: what goes where and what is evicted, refused while nothing is changed yet."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from durable_memory.memory.eviction.order import Excess, Rank, Standing, take
from durable_memory.memory.eviction.policies import NEVER_BEFORE_OTHERS, POLICIES, next_moment
from durable_memory.memory.limits import Limits, Room
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.append_checks import check_sections, too_large
from durable_memory.memory.stores.fixed_room import check_fixed_room
from durable_memory.memory.stores.in_memory.lowered import above_room
from durable_memory.memory.stores.in_memory.results import Member, check_results
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.in_memory.summaries import summaries_leaving
from durable_memory.memory.stores.in_memory.values import OVERFLOW, Place, PlannedGroup, Tally, in_conversation
from durable_memory.memory.stores.values import Entry
from durable_memory.memory.types import LONG_TERM, SYSTEM, Section
from durable_memory.memory.types.repeated_calls import newest_row


@dataclass(slots=True)
class AppendPlan:
    """What an append will do.

    follows: the group of each message; late: which of them follow a group that left. scores: of the groups that are
    new or joined. moment: that of the memory when all is appended.
    """

    moment: int
    scores: dict[int, int] = field(default_factory=dict)
    follows: list[int] = field(default_factory=list)
    late: list[bool] = field(default_factory=list)
    evicted: list[int] = field(default_factory=list)
    evicted_messages: int = 0


@dataclass(frozen=True, slots=True)
class _WaitingBefore:
    """Groups that wait for a result of one call, oldest first: those in the view, and those that left it."""

    live: list[int]
    left: list[int]


class _Planner:
    """Places messages one by one on top of a state that it only reads."""

    def __init__(self, state: MemoryState, limits: Limits, resource: str, now_ms: int) -> None:
        self.state, self.limits, self.resource, self.now_ms = state, limits, resource, now_ms
        self.policy = POLICIES[limits.policy]
        self.plan = AppendPlan(state.moment)
        self.groups: dict[int, PlannedGroup] = {}
        self.waiting: dict[str, list[int]] = defaultdict(list)
        self.opened: set[str] = set()
        self.waiting_before: dict[str, _WaitingBefore] = {}
        self.live: defaultdict[Section, Tally] = defaultdict(Tally)
        self.fixed: defaultdict[Section, Tally] = defaultdict(Tally)
        self.leaving = Tally()
        self.members: list[Member] = []

    def place(self, position: int, entry: Entry) -> None:
        """Finds the group of one message."""
        refusal = too_large(self.resource, position, entry, self.limits)
        if refusal is not None:
            raise refusal
        number = self.state.last_number + 1 + position
        self.plan.moment = next_moment(self.plan.moment, self.now_ms)
        if entry.answers is None:
            self._open(position, entry, number)
            return
        own, before = self.waiting[entry.answers], self._waiting_before(entry.answers)
        if own:
            self._join(position, entry, own.pop(0))
        elif before.live:
            self._join(position, entry, before.live.pop(newest_row(before.live)))
        elif before.left:
            self._follow(before.left.pop(newest_row(before.left)), late=True)
            self.leaving.change(entry.tokens, 1)
        elif self.state.calls.seen(entry.answers) or entry.answers in self.opened:
            raise refusals.call_already_answered(self.resource, position)
        else:
            raise refusals.call_never_seen(self.resource, position)

    def _waiting_before(self, call: str) -> _WaitingBefore:
        """Returns the groups of before that wait for a result of this call, without those that got one by now."""
        if call not in self.waiting_before:
            calls = self.state.calls
            self.waiting_before[call] = _WaitingBefore(list(calls.waiting_live(call)), list(calls.waiting_left(call)))
        return self.waiting_before[call]

    def check_rooms(self) -> None:
        """Refuses what takes the room of results, and when what is never evicted fills more than there is by now."""
        if not self.live:
            return
        if self.limits.result_reserve:
            check_results(self.resource, self.members, self.limits, self._fixed_beside)
        fixed = (self.state.fixed, *self.fixed.values())
        check_fixed_room(
            self.resource,
            self.limits,
            in_sections={section: self._fixed_tokens(section) for section in self.live},
            tokens=sum(tally.tokens for tally in fixed),
            messages=sum(tally.messages for tally in fixed),
        )

    def choose_evictions(self) -> None:
        """Chooses the groups that go, among them those of this append, and checks that the overflow takes them.

        Each section evicts its own groups until its share holds; then, for a common limit, those of all go in turn.
        """
        self.plan.scores = {group.number: group.score for group in self.groups.values()}
        summaries = summaries_leaving(self.state.groups[LONG_TERM].values(), self._needed(), self.limits)
        self.plan.evicted = [group.number for group in summaries]
        self.plan.evicted_messages = len(summaries)
        for share in self.limits.conversation_shares:
            tokens = self.state.fill(share.section, self.limits).tokens + self.live[share.section].tokens
            self._evict(share.section, Excess(tokens - share.tokens, 0))
        filled = self.state.outside
        for tally in self.live.values():
            filled.change(tally.tokens, tally.messages)
        filled.change(0, len(summaries) - self.plan.evicted_messages)
        if not self.limits.summarize:
            # What is left of summaries of before takes room as well.
            left = self.state.tallies[LONG_TERM]
            filled.change(left.tokens, left.messages)
            for group in summaries:
                filled.change(-group.tokens, -group.messages)
        room_tokens = None if self.limits.shares else self.limits.room_tokens
        self._evict(None, Excess.over(filled.tokens, filled.messages, room_tokens, self.limits.room_messages))
        if self.limits.summarize and self.leaving.messages:
            self._check_overflow()

    def _evict(self, section: Section | None, excess: Excess) -> None:
        if not excess:
            return
        for group in take(self._queue(section), excess):
            self.plan.evicted.append(group.rank.group)
            self.plan.evicted_messages += group.messages
            self.leaving.change(group.tokens, group.messages)

    def _fixed_tokens(self, section: Section) -> int:
        """What is never evicted, with this append: in a section, or in all where the budget is common."""
        if not self.limits.shares:
            return sum(tally.tokens for tally in (self.state.fixed, *self.fixed.values()))
        there = self.state.tallies[SYSTEM] if section == SYSTEM else self.state.pinned_in(section, self.limits)
        return there.tokens + self.fixed[section].tokens

    def _fixed_beside(self, group: PlannedGroup) -> int:
        return self._fixed_tokens(self.limits.section_of(group.place)) - group.tokens if group.pinned else 0

    def _needed(self) -> Tally:
        """What is never evicted and the groups of this append fill: where a memory drops, its summaries yield to it."""
        needed = self.state.fixed
        for tally in self.fixed.values():
            needed.change(tally.tokens, tally.messages)
        for group in self.groups.values():
            if in_conversation(group.place) and not group.pinned:
                needed.change(group.tokens, group.messages)
        return needed

    def _check_overflow(self) -> None:
        # What a lowered budget evicts is not the fault of this append, which could be sent in no smaller parts: the
        # overflow takes it beside what it may take.
        waiting, above = self.state.tallies[OVERFLOW], above_room(self.state, self.limits)
        units = (
            ("tokens", waiting.tokens, self.leaving.tokens - above.tokens, self.limits.overflow_tokens),
            ("messages", waiting.messages, self.leaving.messages - above.messages, self.limits.overflow_messages),
        )
        # What never fits is said first: to wait for it would be in vain.
        for unit, _, arriving, limit in units:
            if limit is not None and arriving > limit:
                raise refusals.append_too_large(self.resource, unit, arriving, limit)
        for unit, there, arriving, limit in units:
            if limit is not None and there + arriving > limit:
                raise refusals.overflow_full(self.resource, unit, there, arriving, limit)

    def _check_group(self, position: int, entry: Entry, group: PlannedGroup) -> None:
        # One that was too large before, since the budget was lowered, is evicted with its result.
        there = self.state.where.get(group.number)
        held = Tally() if there is None else Tally(there.tokens, there.messages)
        room = self.limits.room_of(group.place)
        if self.limits.result_reserve:
            if entry.opens or entry.answers is not None:
                self.members.append(Member(position, entry, group, held.tokens))
        elif room is not None and group.tokens > room.limit >= held.tokens:
            raise refusals.group_too_large(self.resource, position, "tokens", group.tokens, room, waiting=group.waiting)
        most = self.limits.room_messages
        if most is not None and group.messages > most >= held.messages:
            raise refusals.group_too_large(self.resource, position, "messages", group.messages, Room(most))

    def _open(self, position: int, entry: Entry, number: int) -> None:
        score = self.policy.score_at_append(number, self.plan.moment, entry.band)
        pinned = entry.pinned and entry.section != SYSTEM
        group = PlannedGroup(number, entry.section, pinned, entry.tokens, 1, len(entry.opens), score)
        self._check_group(position, entry, group)
        self.groups[number] = group
        for call in entry.opens:
            self.waiting[call].append(number)
            self.opened.add(call)
        self._follow(number, late=False)
        self._arrive(entry, entry.section, fixed=entry.pinned or entry.section == SYSTEM)

    def _join(self, position: int, entry: Entry, number: int) -> None:
        group = self.groups.get(number)
        if group is None:
            there = self.state.where[number]
            group = PlannedGroup(
                number, there.place, there.pinned, there.tokens, there.messages, len(there.waiting), there.score
            )
            self.groups[number] = group
        group.tokens += entry.tokens
        group.messages += 1
        group.waiting -= 1
        group.score = self.policy.score_at_join(group.score, self.plan.moment)
        self._check_group(position, entry, group)
        self._follow(number, late=False)
        self._arrive(entry, group.place, fixed=group.pinned)

    def _follow(self, number: int, *, late: bool) -> None:
        self.plan.follows.append(number)
        self.plan.late.append(late)

    def _arrive(self, entry: Entry, place: Place, *, fixed: bool) -> None:
        section = self.limits.section_of(place)
        self.live[section].change(entry.tokens, 1)
        if fixed:
            self.fixed[section].change(entry.tokens, 1)

    def _queue(self, section: Section | None) -> Iterator[Standing]:
        """Yields the groups that may go, the next one first; of one section, or of the whole conversation."""
        touched_now_open = self.limits.open_group_ms > 0
        spared = self._last_of(section) if self.policy.spares_last else None
        changed = [
            Standing(
                Rank(
                    group.waiting > 0 and touched_now_open,
                    NEVER_BEFORE_OTHERS if group.number == spared else group.score,
                    group.number,
                ),
                group.tokens,
                group.messages,
            )
            for group in self.groups.values()
            if in_conversation(group.place) and not group.pinned
        ]
        unchanged = (
            standing
            for standing in self.state.evictable(self.now_ms, self.limits)
            if standing.rank.group not in self.groups
        )
        gone = frozenset(self.plan.evicted)
        for standing in heapq.merge(unchanged, sorted(changed, key=_rank), key=_rank):
            if standing.rank.group not in gone and self._is_in(standing.rank.group, section):
                yield standing

    def _last_of(self, section: Section | None) -> int | None:
        """Returns the group of the last message of this append in a section, or in the whole conversation."""
        arrived = zip(reversed(self.plan.follows), reversed(self.plan.late), strict=True)
        return next((number for number, late in arrived if not late and self._is_in(number, section)), None)

    def _is_in(self, number: int, section: Section | None) -> bool:
        place = (self.groups.get(number) or self.state.where[number]).place
        return in_conversation(place) and section in {None, self.limits.section_of(place)}


def _rank(standing: Standing) -> Rank:
    return standing.rank


def plan_append(
    state: MemoryState, entries: Sequence[Entry], limits: Limits, *, resource: str, now_ms: int
) -> AppendPlan:
    """Returns what an append will do to `state`, which stays as it is.

    Raises MemoryInvalid, MemoryOrphanResult, MemoryOversize, MemoryBackpressure.
    """
    check_sections(resource, entries, limits)
    planner = _Planner(state, limits, resource, now_ms)
    for position, entry in enumerate(entries):
        planner.place(position, entry)
    planner.check_rooms()
    planner.choose_evictions()
    return planner.plan
