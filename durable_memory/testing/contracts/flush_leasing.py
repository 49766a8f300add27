"""Conformance: one flush at a time, and one that lost its place writes nothing."""

from __future__ import annotations

import asyncio

from durable_memory.testing.contracts.builders import summarising, summary, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven


class FlushLeaseContract(StoreCase):
    """Who may work on a batch."""

    async def test_another_owner_is_busy_and_told_how_long(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        await memory.batch("flusher/1")
        for force in (False, True):
            refused = await memory.refused_begin("flusher/2", force=force)
            assert refused.outcome == "busy"
            assert 0 < refused.retry_after_ms <= memory.limits.lease_ms
        assert (await memory.stats()).flushing_owner == "flusher/1"

    async def test_a_lease_that_ended_lets_another_in_and_its_batch_is_stale(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(lease_ms=50))
        await memory.append(*(user(text) for text in "abcdefg"))
        first = await memory.batch("flusher/1")
        await memory.summarise(first)
        await asyncio.sleep(0.1)
        second = await memory.under(summarising()).batch("flusher/2")
        assert second.fence > first.fence
        assert (await memory.commit(first)).outcome == "stale"
        assert await memory.store.content(memory.memory, first, 0) == "stale"
        assert await memory.store.draft(memory.memory, first, summary("x")) == "stale"
        assert await memory.store.renew(memory.memory, first, memory.limits) is False
        assert await memory.store.fail(memory.memory, first, "late", 60_000) == "stale"
        await memory.summarise(second)
        assert (await memory.commit(second)).outcome == "committed"

    async def test_a_lease_that_ended_stops_nobody_if_no_other_began(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(lease_ms=50))
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch()
        await asyncio.sleep(0.1)
        assert await memory.store.renew(memory.memory, batch, memory.limits) is True
        await asyncio.sleep(0.1)
        await memory.summarise(batch)
        assert (await memory.commit(batch)).outcome == "committed"

    async def test_a_renewed_lease_keeps_others_out(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(lease_ms=50))
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch("flusher/1")
        assert await memory.store.renew(memory.memory, batch, summarising()) is True
        await asyncio.sleep(0.1)
        for _ in range(2):
            assert (await memory.refused_begin("flusher/2")).outcome == "busy"
            await asyncio.sleep(0.1)

    async def test_a_shorter_lease_makes_ask_sooner_and_takes_nothing_of_a_longer_one(
        self, open_memory: OpenMemory
    ) -> None:
        memory = open_memory(summarising(lease_ms=3_600_000))
        await memory.append(*(user(text) for text in "abcdefg"))
        first = await memory.batch("flusher/1")
        hasty = memory.under(summarising(lease_ms=50))
        assert 0 < (await hasty.plan()).retry_after_ms <= 50
        for _ in range(2):
            assert 0 < (await hasty.refused_begin("flusher/2")).retry_after_ms <= 50
            await asyncio.sleep(0.1)
        assert (await memory.stats()).flushing_owner == "flusher/1"
        await memory.summarise(first)
        assert (await memory.commit(first)).outcome == "committed"

    async def test_a_failed_flush_waits_unless_forced(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch("flusher/1")
        await memory.summarise(batch)
        assert await memory.store.fail(memory.memory, batch, "SummariserDown", 60_000) is None
        refused = await memory.refused_begin("flusher/2")
        assert refused.outcome == "busy"
        assert 0 < refused.retry_after_ms <= 60_000
        assert (await memory.commit(batch)).outcome == "stale"
        assert await memory.texts() == list("abcdefg")
        assert (await memory.flush("flusher/3", force=True)).outcome == "committed"

    async def test_of_two_begins_at_once_one_is_busy(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        begun = await asyncio.gather(*(memory.begin(f"flusher/{number}") for number in range(5)))
        assert sorted(type(one).__name__ for one in begun) == ["Batch"] + ["FlushResult"] * 4
