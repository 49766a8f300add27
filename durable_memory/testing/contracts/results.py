"""Conformance: where clients cut what is too large, calls and results leave room for the results behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from durable_memory.memory.errors import MemoryOversize
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.values import Entry
from durable_memory.testing.contracts.builders import call, divided, dropping, result, summarising, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven

_ROOMS: Final[dict[str, Callable[..., Limits]]] = {
    "dropping": lambda reserve: dropping(result_reserve=reserve),
    "summarising": lambda reserve: summarising(max_tokens=120, result_reserve=reserve),
    "divided": lambda reserve: divided(
        shares={"system": 20, "long_term": 50, "notes": 30, "short_term": 100}, result_reserve=reserve
    ),
}
"""Budgets in which a group has 100 tokens."""

rooms = pytest.mark.parametrize("room", _ROOMS.values(), ids=_ROOMS)


async def _refused(memory: Driven, *entries: Entry) -> tuple[int | None, int, int]:
    """Appends in vain; returns the position that is too large, by how much, and how many want a part beside it."""
    before = await memory.state()
    with pytest.raises(MemoryOversize) as refusal:
        await memory.append(*entries)
    with pytest.raises(MemoryOversize) as asked:
        await memory.try_append(*entries)
    assert str(asked.value) == str(refusal.value)
    assert await memory.state() == before
    return refusal.value.position, refusal.value.excess_tokens, refusal.value.waiting


class ResultsContract(StoreCase):
    """What a message of a group may not take, under `result_reserve`."""

    @rooms
    async def test_a_result_leaves_each_that_is_missing_its_reserve(
        self, open_memory: OpenMemory, room: Callable[..., Limits]
    ) -> None:
        memory = open_memory(room(10))
        await memory.append(call("C", "1", "2", "3"))
        assert await _refused(memory, result("r", "2", 71)) == (0, 1, 2)
        await memory.append(result("r2", "2", 70))
        assert await _refused(memory, result("r", "3", 11)) == (0, 1, 1)
        await memory.append(result("r3", "3", 10))
        assert await _refused(memory, result("r", "1", 11)) == (0, 1, 0)
        await memory.append(result("r1", "1", 10))
        assert await memory.texts() == ["C", "r2", "r3", "r1"]

    @rooms
    async def test_what_is_left_is_kept_in_even_parts_where_it_is_less(
        self, open_memory: OpenMemory, room: Callable[..., Limits]
    ) -> None:
        memory = open_memory(room(40))
        await memory.append(call("C", "1", "2", "3", tokens=49))
        assert await _refused(memory, result("r", "1", 18)) == (0, 1, 2)
        await memory.append(result("r1", "1", 17))
        await memory.append(result("r2", "2", 17))
        await memory.append(result("r3", "3", 17))
        assert await memory.texts() == ["C", "r1", "r2", "r3"]

    @rooms
    async def test_of_one_that_comes_along_its_size_is_kept(
        self, open_memory: OpenMemory, room: Callable[..., Limits]
    ) -> None:
        memory = open_memory(room(10))
        await memory.append(call("C", "1", "2", "3"))
        # The second one keeps 4, the third its reserve, of which it wants more.
        assert await _refused(memory, result("a", "1", 77), result("b", "2", 4), result("c", "3", 30)) == (0, 1, 1)
        assert await _refused(memory, result("a", "1", 76), result("b", "2", 4), result("c", "3", 11)) == (2, 1, 0)
        await memory.append(result("a", "1", 76), result("b", "2", 4), result("c", "3", 10))
        assert await memory.texts() == ["C", "a", "b", "c"]

    @rooms
    async def test_tool_calls_leave_their_results_what_they_keep_or_half(
        self, open_memory: OpenMemory, room: Callable[..., Limits]
    ) -> None:
        memory = open_memory(room(10))
        assert await _refused(memory, user("a"), call("C", "1", "2", tokens=81)) == (1, 1, 2)
        await memory.append(call("C", "1", "2", tokens=80), result("r1", "1", 10))
        assert await _refused(memory, result("r2", "2", 11)) == (0, 1, 0)
        await memory.write(call("D", "3", tokens=96), result("d", "3", 4))
        assert await memory.texts() == ["D", "d"]
        memory = open_memory(room(40))
        assert await _refused(memory, call("C", "1", "2", tokens=51)) == (0, 1, 2)
        await memory.append(call("C", "1", "2", tokens=50))

    @rooms
    async def test_what_cannot_be_cut_takes_what_it_needs(
        self, open_memory: OpenMemory, room: Callable[..., Limits]
    ) -> None:
        memory = open_memory(room(10))
        await memory.append(replace(call("C", "1", "2", tokens=90), whole=True))
        assert await _refused(memory, replace(result("r", "1", 11), whole=True)) == (0, 1, 1)
        await memory.append(replace(result("r1", "1", 9), whole=True))
        await memory.append(result("r2", "2", 1))
        assert await memory.texts() == ["C", "r1", "r2"]

    @rooms
    async def test_one_that_cannot_be_cut_keeps_its_size_before_others(
        self, open_memory: OpenMemory, room: Callable[..., Limits]
    ) -> None:
        memory = open_memory(room(10))
        await memory.append(call("C", "1", "2", "3"))
        picture = replace(result("p", "2", 60), whole=True)
        assert await _refused(memory, result("a", "1", 21), picture) == (0, 1, 1)
        await memory.append(result("a", "1", 20), picture)
        await memory.append(result("b", "3", 10))
        assert await memory.texts() == ["C", "a", "p", "b"]

    @rooms
    async def test_a_pinned_group_has_what_other_pinned_messages_leave(
        self, open_memory: OpenMemory, room: Callable[..., Limits]
    ) -> None:
        memory = open_memory(room(10))
        await memory.append(user("kept", 30, pinned=True), user("gone", 30))
        await memory.append(call("C", "1", "2", pinned=True))
        assert await _refused(memory, result("r", "1", 51)) == (0, 1, 1)
        await memory.append(result("r1", "1", 50))
        assert await _refused(memory, result("r", "2", 11)) == (0, 1, 0)
        await memory.append(result("r2", "2", 10))
        assert await memory.texts() == ["kept", "C", "r1", "r2"]

    async def test_each_section_has_its_own_room(self, open_memory: OpenMemory) -> None:
        memory = open_memory(divided(result_reserve=5))
        await memory.append(call("C", "1", "2", section="notes", tokens=5))
        assert await _refused(memory, result("r", "1", 11)) == (0, 1, 1)
        await memory.append(call("D", "3", "4", section="bookings", tokens=5))
        await memory.append(result("d3", "3", 30), result("c1", "1", 10), result("c2", "2", 5), result("d4", "4", 5))
        assert (await memory.read()).tokens == 60

    async def test_groups_in_one_append_are_looked_at_one_by_one(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(result_reserve=10))
        both = call("C", "1", "2"), call("D", "3", "4"), result("c1", "1", 80), result("d3", "3", 81)
        assert await _refused(memory, *both) == (3, 1, 1)
        await memory.write(both[0], both[2], result("c2", "2", 10))
        assert await memory.texts() == ["C", "c1", "c2"]

    async def test_a_late_result_leaves_nothing_to_others(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(open_group_ms=0, result_reserve=10))
        await memory.append(replace(call("C", "1", "2", "3", tokens=75), whole=True))
        await memory.append(*(user(text) for text in "abcdefgh"))
        assert await memory.waiting() == ["C"]
        assert (await memory.append(result("r", "1", 5), result("s", "2", 80))).late == 2

    async def test_a_group_above_a_lowered_budget_is_evicted_with_its_result(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(result_reserve=10))
        await memory.append(call("C", "1", "2", tokens=30), result("r1", "1", 40))
        lowered = memory.under(summarising(max_tokens=60, result_reserve=10))
        assert (await lowered.append(result("r2", "2", 40))).evicted == 3

    async def test_without_a_reserve_a_result_may_take_all(self, memory: Driven) -> None:
        await memory.append(call("C", "1", "2"))
        await memory.append(result("r1", "1", 70))
        assert await _refused(memory, result("r2", "2", 1)) == (0, 1, 0)
