"""Conformance: a call and all its results stand or fall together, and each result finds its own call."""

from __future__ import annotations

import asyncio

import pytest

from durable_memory.memory.errors import MemoryOrphanResult, MemoryOversize
from durable_memory.testing.contracts.builders import call, dropping, result, summarising, texts_of, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven


class GroupsContract(StoreCase):
    """Tool calls and their results."""

    async def test_an_open_group_is_in_no_view_but_counts(self, memory: Driven) -> None:
        await memory.append(user("a"))
        appended = await memory.append(call("C", "1"))
        view, stats = await memory.state()
        assert (texts_of(view), view.tokens, view.omitted_messages) == (["a"], 10, 0)
        assert (appended.tokens, appended.messages) == (20, 2)
        assert (stats.tokens["short_term"], stats.messages["short_term"]) == (20, 2)

    async def test_the_last_result_closes_the_group_at_the_place_of_its_call(self, memory: Driven) -> None:
        await memory.append(call("C", "1", "2"), user("a"))
        await memory.append(result("r2", "2"))
        assert await memory.texts() == ["a"]
        await memory.append(user("b"), result("r1", "1"))
        assert await memory.texts() == ["C", "r2", "r1", "a", "b"]

    async def test_interleaved_groups_are_each_one_block(self, memory: Driven) -> None:
        await memory.append(call("C", "1"), call("D", "2"), result("r2", "2"), user("a"), result("r1", "1"))
        assert await memory.texts() == ["C", "r1", "D", "r2", "a"]

    async def test_a_repeated_id_pairs_by_order_of_occurrence(self, memory: Driven) -> None:
        await memory.append(call("C", "1"), call("D", "1"))
        await memory.append(call("E", "1"))
        await memory.append(result("first", "1"))
        assert await memory.texts() == ["C", "first"]
        await memory.append(result("second", "1"), result("third", "1"))
        assert await memory.texts() == ["C", "first", "D", "second", "E", "third"]

    async def test_a_call_that_was_given_up_takes_the_result_of_no_later_one(self, memory: Driven) -> None:
        await memory.append(call("C", "1"))
        await memory.append(user("a"), call("D", "1"), call("E", "1"))
        await memory.append(result("d", "1"))
        assert await memory.texts() == ["a", "D", "d"]
        await memory.append(result("e", "1"), result("c", "1"))
        assert await memory.texts() == ["C", "c", "a", "D", "d", "E", "e"]

    async def test_of_calls_that_left_those_after_the_others_are_followed_first(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(open_group_ms=0))
        await memory.append(call("C", "1"), user("x"), call("D", "1"), call("E", "1"))
        await memory.append(*(user(text) for text in "abcdefgh"))
        assert {"C", "D", "E"} <= set(await memory.waiting())
        appended = await memory.append(result("d", "1"))
        await memory.delete(*appended.ids)
        assert appended.late == 1
        assert {"C", "E"} <= set(await memory.waiting())
        assert "D" not in await memory.waiting()

    async def test_a_batch_answers_its_own_calls_before_others_with_their_id(self, memory: Driven) -> None:
        await memory.append(call("C", "1"))
        await memory.append(call("D", "1"), call("E", "1"), result("d", "1"), result("e", "1"))
        assert await memory.texts() == ["D", "d", "E", "e"]
        await memory.append(result("c", "1"))
        assert await memory.texts() == ["C", "c", "D", "d", "E", "e"]

    async def test_an_id_repeated_in_one_message_waits_for_each_of_its_results(self, memory: Driven) -> None:
        await memory.append(call("C", "1", "1"), result("r", "1"))
        assert await memory.texts() == []
        await memory.append(result("s", "1"))
        assert await memory.texts() == ["C", "r", "s"]

    async def test_an_id_used_again_after_its_answer_opens_a_new_group(self, memory: Driven) -> None:
        await memory.append(call("C", "1"), result("r", "1"))
        await memory.append(call("D", "1"), result("s", "1"))
        assert await memory.texts() == ["C", "r", "D", "s"]

    async def test_a_result_for_a_call_never_made_is_refused(self, memory: Driven) -> None:
        await memory.append(call("C", "1"))
        before = await memory.state()
        with pytest.raises(MemoryOrphanResult):
            await memory.append(result("r", "2"))
        assert await memory.state() == before

    async def test_a_second_result_for_one_call_is_refused(self, memory: Driven) -> None:
        await memory.append(call("C", "1"), result("r", "1"))
        before = await memory.state()
        with pytest.raises(MemoryOrphanResult):
            await memory.append(result("again", "1"))
        assert await memory.state() == before

    async def test_a_result_before_its_call_in_one_batch_is_refused(self, memory: Driven) -> None:
        with pytest.raises(MemoryOrphanResult):
            await memory.append(result("r", "1"), call("C", "1"))

    async def test_of_two_results_for_one_call_at_once_one_is_refused(self, memory: Driven) -> None:
        await memory.append(call("C", "1"))
        outcomes = await asyncio.gather(
            memory.append(result("r", "1")), memory.append(result("r", "1")), return_exceptions=True
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["AppendResult", "MemoryOrphanResult"]
        assert await memory.texts() == ["C", "r"]

    async def test_a_group_that_would_outgrow_its_room_refuses_the_result_and_stays_open(self, memory: Driven) -> None:
        await memory.append(call("C", "1", tokens=50))
        before = await memory.state()
        with pytest.raises(MemoryOversize, match=r"(?s)(?=.*\b81\b)(?=.*\b80\b)"):
            await memory.append(result("long", "1", 31))
        assert await memory.state() == before
        await memory.append(result("short", "1", 30))
        assert await memory.texts() == ["C", "short"]

    async def test_open_groups_are_evicted_last(self, memory: Driven) -> None:
        await memory.append(call("C", "1"), *(user(text) for text in "abcdefg"))
        assert (await memory.append(user("h"), user("i"))).evicted == 2
        await memory.append(result("r", "1"))
        assert await memory.texts() == list("cdefghi")
        assert sorted(await memory.waiting()) == ["C", "a", "b", "r"]

    async def test_an_abandoned_group_is_evicted_in_its_ordinary_order(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(open_group_ms=1))
        await memory.append(call("C", "1"), *(user(text) for text in "abcdefg"))
        await asyncio.sleep(0.02)
        assert (await memory.append(user("h"))).evicted == 1
        assert await memory.texts() == list("abcdefgh")
        assert await memory.waiting() == ["C"]

    async def test_a_late_result_brings_an_abandoned_group_back(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(open_group_ms=1))
        await memory.append(call("C", "1"), user("a"))
        await asyncio.sleep(0.02)
        assert await memory.texts() == ["a"]
        await memory.append(result("r", "1"))
        assert await memory.texts() == ["C", "r", "a"]

    async def test_a_group_is_evicted_whole(self, memory: Driven) -> None:
        await memory.append(call("C", "1", "2"), *(user(text) for text in "abcde"))
        await memory.append(result("r1", "1"), result("r2", "2"))
        assert (await memory.append(user("f"))).evicted == 3
        assert await memory.texts() == list("abcdef")
        assert await memory.waiting() == ["C", "r1", "r2"]

    async def test_a_result_that_fills_the_room_may_push_its_own_group_out(self, memory: Driven) -> None:
        await memory.append(call("C", "1"), *(user(text) for text in "abcdefg"))
        appended = await memory.append(result("r", "1"))
        assert (appended.evicted, appended.late, await memory.texts()) == (2, 0, list("abcdefg"))

    async def test_the_result_of_an_evicted_call_follows_it(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(open_group_ms=1))
        await memory.append(call("C", "1"))
        await asyncio.sleep(0.02)
        await memory.append(*(user(text) for text in "abcdefgh"))
        appended = await memory.append(result("r", "1"))
        assert (appended.late, appended.evicted, appended.messages) == (1, 0, 8)
        assert (await memory.read()).omitted_messages == 2
        assert await memory.waiting() == ["C", "r"]
        with pytest.raises(MemoryOrphanResult):
            await memory.append(result("again", "1"))

    async def test_the_result_of_a_dropped_call_is_dropped_and_counted(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(open_group_ms=1))
        await memory.append(call("C", "1"))
        await asyncio.sleep(0.02)
        await memory.append(*(user(text) for text in "abcdefghij"))
        appended = await memory.append(result("r", "1"))
        assert (appended.late, appended.evicted, len(appended.ids)) == (1, 0, 1)
        assert (appended.tokens, appended.messages) == (100, 10)
        assert (await memory.read()).omitted_messages == 0

    async def test_results_inherit_the_pin_of_their_call(self, memory: Driven) -> None:
        await memory.append(call("C", "1", pinned=True), result("r", "1"))
        await memory.append(*(user(text) for text in "abcdefgh"))
        assert await memory.texts() == ["C", "r", *"cdefgh"]

    async def test_deleting_any_member_deletes_the_group(self, memory: Driven) -> None:
        ids = (await memory.append(call("C", "1"), result("r", "1"), user("a"))).ids
        deleted = await memory.delete(ids[1])
        assert (set(deleted.removed), await memory.texts()) == (set(ids[:2]), ["a"])
