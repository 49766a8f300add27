"""Conformance: what a flush takes, in which order, and what it leaves."""

from __future__ import annotations

import asyncio

import pytest

from durable_memory.memory.errors import MemoryOperationExpired
from durable_memory.memory.stores.values import FlushOptions
from durable_memory.testing.contracts.builders import call, result, summarising, system, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven


class FlushSelectionContract(StoreCase):
    """What begin chooses."""

    async def test_below_the_threshold_there_is_nothing_to_flush(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdef"))
        assert (await memory.stats()).flush_due is False
        refused = await memory.refused_begin()
        assert (refused.outcome, refused.reason) == ("nothing", "below_threshold")

    async def test_at_the_threshold_the_oldest_go_until_the_target(self, memory: Driven) -> None:
        assert (await memory.append(*(user(text) for text in "abcdefg"))).flush_due is True
        batch = await memory.batch()
        assert (batch.messages, batch.tokens, batch.flush_id, batch.summary_max) == (3, 30, "flusher/1", 20)
        assert await memory.content_texts(batch) == ["a", "b", "c"]

    async def test_the_number_of_messages_makes_a_flush_due_too(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(max_messages=10, due_messages=5, target_messages=2))
        assert (await memory.append(*(user(text, 1) for text in "abcd"))).flush_due is False
        assert (await memory.append(user("e", 1))).flush_due is True
        assert await memory.content_texts(await memory.batch()) == ["a", "b", "c"]

    async def test_summaries_count_for_no_threshold(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        assert (await memory.flush()).flush_due is False
        assert (await memory.append(user("h"), user("i"))).flush_due is False

    async def test_the_policy_says_what_goes(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(policy="lru"))
        ids = (await memory.append(*(user(text) for text in "abcdefg"))).ids
        await memory.touch(ids[0], ids[2])
        assert await memory.content_texts(await memory.batch()) == ["b", "d", "e"]

    async def test_system_and_pinned_messages_are_never_taken(self, memory: Driven) -> None:
        await memory.append(system("s"), user("p", pinned=True), *(user(text) for text in "abcde"))
        assert await memory.content_texts(await memory.batch(force=True)) == list("abcde")

    async def test_both_ends_of_the_conversation_are_kept(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(keep_first=1, keep_last=2))
        await memory.append(user("a"), user("b"), user("c"), call("C", "1"), result("r", "1"), user("z"))
        assert await memory.content_texts(await memory.batch(force=True)) == ["b", "c"]

    async def test_everything_that_waits_is_taken_even_below_the_target(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(keep_last=9))
        await memory.append(*(user(text) for text in "abcdefghij"))
        assert await memory.content_texts(await memory.batch()) == ["a", "b"]

    @pytest.mark.parametrize(("share", "taken"), [(0, 3), (0.3, 3), (0.43, 4), (0.55, 4), (1, 7)])
    async def test_at_least_the_declared_share_of_the_messages_is_taken(
        self, open_memory: OpenMemory, share: float, taken: int
    ) -> None:
        memory = open_memory(summarising(oldest_share=share))
        await memory.append(*(user(text) for text in "abcdefg"))
        assert await memory.content_texts(await memory.batch()) == list("abcdefg"[:taken])

    async def test_the_share_goes_in_the_order_of_the_policy_and_leaves_what_is_kept(
        self, open_memory: OpenMemory
    ) -> None:
        memory = open_memory(summarising(oldest_share=0.9, policy="lru", keep_last=1))
        ids = (await memory.append(call("open", "1", tokens=1), *(user(text) for text in "abcdefg"))).ids
        await memory.touch(ids[1])
        assert await memory.content_texts(await memory.batch()) == list("abcdef")

    async def test_a_share_of_messages_is_a_share_of_whole_groups(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(oldest_share=0.5, target_tokens=70))
        await memory.append(call("calls", "1", "2"), result("one", "1"), result("two", "2"))
        await memory.append(*(user(text) for text in "abcd"))
        assert await memory.content_texts(await memory.batch()) == ["calls", "one", "two", "a"]

    async def test_a_share_makes_no_flush_due(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(oldest_share=1))
        await memory.append(*(user(text) for text in "abc"))
        assert (await memory.refused_begin()).reason == "below_threshold"

    async def test_a_group_is_taken_whole(self, memory: Driven) -> None:
        await memory.append(user("a"), user("b"), call("C", "1", "2"), *(user(text) for text in "cd"))
        await memory.append(result("r1", "1"), result("r2", "2"))
        assert await memory.content_texts(await memory.batch()) == ["a", "b", "C", "r1", "r2"]

    async def test_a_forced_flush_leaves_open_groups(self, memory: Driven) -> None:
        await memory.append(call("C", "1"), user("a"))
        assert await memory.content_texts(await memory.batch(force=True)) == ["a"]

    async def test_a_forced_flush_takes_abandoned_groups(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(open_group_ms=1))
        await memory.append(call("C", "1"), user("a"))
        await asyncio.sleep(0.02)
        assert await memory.content_texts(await memory.batch(force=True)) == ["C", "a"]

    async def test_an_open_group_is_taken_only_if_nothing_else_reaches_the_target(self, memory: Driven) -> None:
        await memory.append(call("C", "1"), *(user(text) for text in "abcdef"))
        assert await memory.content_texts(await memory.batch("one")) == ["a", "b", "c"]
        await memory.clear()
        await memory.append(call("C", "1", tokens=30), call("D", "2", tokens=30), user("a"))
        assert await memory.content_texts(await memory.batch("two")) == ["C", "a"]

    async def test_what_blocks_a_flush_is_named(self, open_memory: OpenMemory) -> None:
        pinned = open_memory(summarising())
        await pinned.append(*(user(text, pinned=True) for text in "abcdefg"))
        assert (await pinned.refused_begin()).reason == "pinned"
        kept = open_memory(summarising(keep_last=9))
        await kept.append(*(user(text) for text in "abcdefg"))
        assert (await kept.refused_begin()).reason == "keep"

    async def test_a_begin_that_takes_nothing_takes_no_lease(self, memory: Driven) -> None:
        await memory.append(user("a"))
        await memory.refused_begin("flusher/1")
        assert (await memory.stats()).flushing_owner is None

    async def test_an_absent_memory_is_gone(self, memory: Driven) -> None:
        assert (await memory.refused_begin(force=True)).outcome == "gone"

    async def test_a_begin_after_its_attempt_has_ended_takes_no_lease(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        with pytest.raises(MemoryOperationExpired):
            await memory.store.begin(
                memory.memory,
                "dead",
                memory.limits,
                FlushOptions(),
                batch_id="batch",
                attempt_ends_ms=memory.clock.now_ms() - 1000,
            )
        assert (await memory.flush("living")).outcome == "committed"
