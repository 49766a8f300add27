"""Conformance: what is pinned stays with its whole group, until it is unpinned; a pin never costs a message."""

from __future__ import annotations

import asyncio

import pytest

from durable_memory.memory.errors import MemoryOperationConflict, MemoryOversize
from durable_memory.testing.contracts.builders import call, dropping, result, summarising, system, texts_of, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven
from durable_memory.testing.contracts.policies import POLICIES


class PinningContract(StoreCase):
    """Pinning and unpinning."""

    @pytest.mark.parametrize("policy", POLICIES)
    async def test_a_pinned_message_is_not_evicted(self, open_memory: OpenMemory, policy: str) -> None:
        memory = open_memory(summarising(policy=policy))
        ids = await memory.append_each(*(user(text) for text in "abc"))
        assert await memory.pin(ids[0]) == (ids[0],)
        await memory.append_each(*(user(text) for text in "defghijkl"))
        assert await memory.texts() == list("afghijkl")
        await memory.check_counters()

    async def test_a_pinned_message_is_not_flushed(self, memory: Driven) -> None:
        ids = await memory.append_each(*(user(text) for text in "abcdefg"))
        await memory.pin(ids[1])
        await memory.flush(force=True)
        assert (await memory.texts())[1:] == ["b"]

    async def test_a_pinned_message_is_not_dropped(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping())
        ids = await memory.append_each(*(user(text) for text in "abc"))
        await memory.pin(ids[2])
        assert (await memory.drop(force=True)).removed_ids == tuple(ids[:2])
        assert await memory.texts() == ["c"]

    async def test_a_pin_takes_the_whole_group_and_those_that_join_it(self, memory: Driven) -> None:
        ids = await memory.append_each(call("C", "1", "2"), result("r1", "1"), user("a"))
        assert await memory.pin(ids[1]) == (ids[1],)
        ids += await memory.append_each(result("r2", "2"), *(user(text) for text in "bcdefghij"))
        assert (await memory.texts())[:3] == ["C", "r1", "r2"]
        view = await memory.read(max_tokens=30)
        assert texts_of(view) == ["C", "r1", "r2"]
        assert all(entry.pinned for entry in view.entries)
        assert await memory.unpin(ids[3]) == (ids[3],)
        await memory.append_each(*(user(text) for text in "klmnopqr"))
        assert await memory.texts() == list("klmnopqr")
        await memory.check_counters()

    @pytest.mark.parametrize("policy", POLICIES)
    async def test_an_unpinned_message_goes_like_others_again(self, open_memory: OpenMemory, policy: str) -> None:
        memory = open_memory(summarising(policy=policy))
        [first] = await memory.append_each(user("a", 10))
        await memory.pin(first)
        await memory.append_each(*(user(text) for text in "bcdefgh"))
        await memory.unpin(first)
        await memory.append_each(user("i"))
        assert ("a" in await memory.texts()) == (policy in {"lru", "token_aware_lru"})
        await memory.append_each(*(user(text) for text in "jklmnopq"))
        assert "a" not in await memory.texts()
        await memory.check_counters()

    async def test_an_unpinned_message_is_read_as_any_other(self, memory: Driven) -> None:
        ids = await memory.append_each(user("a"), user("b"), user("p", pinned=True), user("c"), user("d"))
        await memory.pin(ids[0])
        assert texts_of(await memory.read(max_tokens=30)) == ["a", "p", "d"]
        await memory.unpin(ids[0], ids[2])
        assert texts_of(await memory.read(max_tokens=30)) == ["p", "c", "d"]
        await memory.flush(force=True)
        assert texts_of(await memory.read(max_tokens=30)) == ["a b p c d"]

    async def test_a_pin_prolongs_the_lifetime_and_one_that_changes_nothing_does_not(
        self, open_memory: OpenMemory
    ) -> None:
        memory = open_memory(summarising(ttl_ms=10_000))
        ids = await memory.append_each(user("a"))
        for change in (memory.pin, memory.unpin):
            before = (await memory.stats()).expires_at
            await asyncio.sleep(0.6)
            await change(*ids)
            after = (await memory.stats()).expires_at
            assert before is not None
            assert after is not None
            assert (after - before).total_seconds() > 0.1
            await asyncio.sleep(0.6)
            await change(*ids)
            assert (await memory.stats()).expires_at == after

    async def test_a_view_tells_what_is_pinned(self, memory: Driven) -> None:
        ids = await memory.append_each(user("a"), user("b", pinned=True), user("c"))
        await memory.pin(ids[2])
        assert [entry.pinned for entry in (await memory.read()).entries] == [False, True, True]
        await memory.unpin(ids[1])
        assert [entry.pinned for entry in (await memory.read()).entries] == [False, False, True]

    async def test_a_pin_changes_the_version_and_one_that_changes_nothing_does_not(self, memory: Driven) -> None:
        ids = await memory.append_each(user("a"), user("b"))
        before = await memory.state()
        await memory.pin(ids[0])
        pinned = await memory.state()
        assert pinned[0].version != before[0].version
        assert await memory.pin(ids[0]) == (ids[0],)
        assert await memory.unpin(ids[1]) == (ids[1],)
        assert await memory.state() == pinned

    @pytest.mark.parametrize(
        ("lowered", "numbers"),
        [({"max_tokens": 60}, "50 tokens, but messages may fill at most 40"), ({"max_messages": 5}, "5 messages")],
    )
    async def test_pins_over_a_budget_that_was_lowered_are_refused_with_both_numbers_and_drop_nothing(
        self, memory: Driven, lowered: dict[str, int], numbers: str
    ) -> None:
        ids = (await memory.append(system("s"), *(user(text) for text in "abcdef"))).ids
        lower = memory.under(summarising(**lowered))
        before = await lower.state()
        with pytest.raises(MemoryOversize, match=numbers):
            await lower.pin(*ids[1:5])
        assert await lower.state() == before
        assert await lower.pin(*ids[1:4]) == ids[1:4]
        with pytest.raises(MemoryOversize):
            await lower.pin(ids[4])

    async def test_what_is_pinned_may_fill_all_that_messages_may(self, memory: Driven) -> None:
        ids = await memory.append_each(*(user(text) for text in "abcdefgh"))
        assert await memory.pin(*ids) == tuple(ids)
        with pytest.raises(MemoryOversize):
            await memory.append(user("i", pinned=True))
        assert await memory.texts() == list("abcdefgh")

    async def test_system_messages_are_live_and_stay_as_they_are(self, memory: Driven) -> None:
        [rule] = await memory.append_each(system("s"))
        before = await memory.state()
        assert (await memory.pin(rule), await memory.unpin(rule)) == ((rule,), (rule,))
        assert await memory.state() == before

    async def test_summaries_the_overflow_and_unknown_ids_cannot_be_pinned(self, memory: Driven) -> None:
        ids = await memory.append_each(*(user(text) for text in "abcdefgh"))
        summary = (await memory.flush(force=True)).summary_id or ""
        waiting = (await memory.append(*(user(text) for text in "ijklmnopqr"))).ids[0]
        assert await memory.pin(ids[0], summary, waiting, "nonsense", "0" * 16 + "-1-0000") == ()
        assert (await memory.unpin(summary), (await memory.read()).omitted_messages) == ((), 2)

    async def test_a_pin_on_an_absent_memory_creates_nothing(self, memory: Driven) -> None:
        assert await memory.pin("nonsense") == ()
        assert (await memory.stats()).exists is False

    async def test_each_id_is_answered_once_in_the_order_given(self, memory: Driven) -> None:
        ids = await memory.append_each(user("a"), user("b"))
        assert await memory.pin(ids[1], ids[0], ids[1]) == (ids[1], ids[0])

    async def test_a_late_attempt_of_a_pin_does_not_undo_the_unpin_after_it(self, memory: Driven) -> None:
        [one] = await memory.append_each(user("a"))
        await memory.pin(one, op="pin")
        await memory.unpin(one)
        assert await memory.pin(one, op="pin") == (one,)
        assert [entry.pinned for entry in (await memory.read()).entries] == [False]

    async def test_one_operation_is_not_a_pin_and_an_unpin(self, memory: Driven) -> None:
        [one] = await memory.append_each(user("a"))
        await memory.pin(one, op="same")
        with pytest.raises(MemoryOperationConflict):
            await memory.unpin(one, op="same")

    async def test_a_pin_ends_a_flush_that_holds_the_message(self, memory: Driven) -> None:
        ids = await memory.append_each(*(user(text) for text in "abcdefg"))
        batch = await memory.batch()
        await memory.summarise(batch)
        await memory.pin(ids[0])
        assert (await memory.commit(batch)).outcome == "stale"
        assert await memory.texts() == list("abcdefg")

    async def test_a_pin_of_another_message_leaves_a_flush_alone(self, memory: Driven) -> None:
        ids = await memory.append_each(*(user(text) for text in "abcdefg"))
        batch = await memory.batch()
        await memory.summarise(batch)
        await memory.pin(ids[6])
        assert (await memory.commit(batch)).outcome == "committed"
        assert (await memory.texts())[1:] == list("defg")

    async def test_a_pin_outlives_a_change_of_the_policy(self, memory: Driven) -> None:
        ids = await memory.append_each(*(user(text) for text in "abcd"))
        await memory.pin(ids[0])
        recent = memory.under(summarising(policy="lru"))
        await recent.append_each(*(user(text) for text in "efghijkl"))
        assert (await recent.texts())[0] == "a"
        await recent.check_counters()
