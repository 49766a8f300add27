"""Whatever happens to a memory, its counters and its order of eviction are those that a recount gives."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from durable_memory.memory.errors import MemoryFault
from durable_memory.memory.eviction.order import Excess, Rank, Standing
from durable_memory.memory.limits import Limits, PolicyName
from durable_memory.memory.stores.in_memory.applying import apply_append
from durable_memory.memory.stores.in_memory.flushing import joined, note_batch, replace_by_summary, select
from durable_memory.memory.stores.in_memory.planning import plan_append
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.in_memory.values import OVERFLOW, Tally
from durable_memory.memory.stores.values import Entry
from durable_memory.memory.types import SECTIONS
from durable_memory.testing.contracts.builders import call, dropping, result, summarising, summary, system, user

ENTRIES = st.one_of(
    st.builds(user, st.just("said"), st.integers(0, 40), pinned=st.booleans()),
    st.builds(system, st.just("rule"), st.integers(1, 8)),
    st.builds(
        lambda ids, tokens: call("calls", *ids, tokens=tokens),
        st.lists(st.sampled_from("ab"), max_size=3),
        st.integers(1, 9),
    ),
    st.builds(result, st.just("found"), st.sampled_from("ab"), st.integers(0, 20)),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.lists(ENTRIES, min_size=1, max_size=4)),
        st.tuples(st.just("access"), st.integers(0, 30)),
        st.tuples(st.just("remove"), st.integers(0, 30)),
        st.tuples(st.just("begin"), st.booleans()),
        st.tuples(st.just("commit"), st.integers(1, 20)),
        st.tuples(st.just("wait"), st.sampled_from([400, 600, 1000])),
    ),
    max_size=40,
)


class Played:
    """A memory, its time, and the limits it is used under."""

    def __init__(self, limits: Limits) -> None:
        self.state = MemoryState("0" * 16, 0)
        self.limits = limits
        self.now_ms = 0

    def append(self, entries: list[Entry]) -> None:
        self.state.obey(self.limits, self.now_ms)
        try:
            plan = plan_append(self.state, entries, self.limits, resource="resource", now_ms=self.now_ms)
        except MemoryFault:
            return
        apply_append(self.state, entries, plan, self.limits, tag="0000", now_ms=self.now_ms, until_ms=self.now_ms + 900)

    def access(self, index: int) -> None:
        live = [group for place in SECTIONS for group in self.state.groups[place].values()]
        for group in live[index : index + 1]:
            self.state.access(group, self.limits, self.now_ms)

    def remove(self, index: int) -> None:
        everything = [group for place in (*SECTIONS, OVERFLOW) for group in self.state.groups[place].values()]
        for group in everything[index : index + 1]:
            self.state.remove(group, self.now_ms + 900)

    def begin(self, force: bool) -> None:  # noqa: FBT001 - drawn
        selection = select(self.state, self.limits, force=force, now_ms=self.now_ms)
        if selection.groups:
            self.state.batch = note_batch(self.state, selection, flush_id="owner", batch_id="batch", limits=self.limits)

    def commit(self, tokens: int) -> None:
        if self.state.batch is not None:
            replace_by_summary(
                self.state, self.state.batch, summary("sum", tokens), tag="0000", until_ms=self.now_ms + 900
            )

    def wait(self, ms: int) -> None:
        self.now_ms += ms
        self.state.calls.prune(self.now_ms)


def check(played: Played) -> None:
    state, limits = played.state, played.limits
    everything = [group for place in (*SECTIONS, OVERFLOW) for group in state.groups[place].values()]
    for place in (*SECTIONS, OVERFLOW):
        groups = state.groups[place].values()
        assert all(group.place == place and group.entries for group in groups)
        assert state.tallies[place].tokens == sum(entry.tokens for group in groups for entry in group.entries.values())
        assert state.tallies[place].messages == sum(len(group.entries) for group in groups)
    fixed = [group for group in everything if group.place == "system" or (group.pinned and group.place == "short_term")]
    assert state.fixed == Tally(sum(g.tokens for g in fixed), sum(g.messages for g in fixed))
    assert state.where == {number: group for group in everything for number in group.entries}
    unpinned = [
        Standing(Rank(group.is_open(played.now_ms, limits), group.score, group.number), group.tokens, group.messages)
        for group in state.groups["short_term"].values()
        if not group.pinned
    ]
    assert list(state.evictable(played.now_ms, limits)) == sorted(unpinned, key=lambda group: group.rank)
    assert not Excess.over(state.outside.tokens, state.outside.messages, limits.room_tokens, limits.room_messages)
    for name in "ab":
        live = sorted(g.number for g in state.groups["short_term"].values() for _ in range(g.waiting.count(name)))
        assert list(state.calls.waiting_live(name)) == live
    held = state.batch.held if state.batch is not None else frozenset[int]()
    assert held <= state.where.keys()


@pytest.mark.parametrize("policy", get_args(PolicyName))
@pytest.mark.parametrize("limits", [summarising(open_group_ms=1000), dropping(open_group_ms=1000, max_messages=6)])
@settings(max_examples=150)
@given(steps=STEPS)
def test_counters_and_order_are_a_recount(limits: Limits, policy: PolicyName, steps: list[tuple[str, object]]) -> None:
    played = Played(replace(limits, policy=policy))
    for name, argument in steps:
        getattr(played, name)(argument)
        check(played)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)).map(lambda pair: (pair[0], pair[0] + pair[1]))))
def test_joined_ranges_hold_the_same_numbers_with_gaps_between(ranges: list[tuple[int, int]]) -> None:
    def numbers(of: list[tuple[int, int]]) -> set[int]:
        return {number for first, last in of for number in range(first, last + 1)}

    result_ranges = joined(ranges)
    assert numbers(result_ranges) == numbers(ranges)
    assert all(later[0] > earlier[1] + 1 for earlier, later in pairwise(result_ranges))
