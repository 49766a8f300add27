"""Conformance: a clear, or the end of a ttl, leaves nothing, and nothing from before it touches what comes after."""

from __future__ import annotations

import asyncio

import pytest

from durable_memory.memory.errors import MemoryConflict
from durable_memory.memory.stores.values import ABSENT
from durable_memory.testing.contracts.builders import AFTER_TTL_SECONDS, TTL_MS, summarising, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven


class ClearingContract(StoreCase):
    """The end of a memory."""

    async def test_a_clear_counts_and_removes_everything(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abc"))
        await memory.flush(force=True)
        await memory.append(*(user(text) for text in "defghijklm"))
        assert (await memory.clear()).cleared == 11
        view, stats = await memory.state()
        assert (view.entries, view.version, view.omitted_messages, stats.exists) == ((), ABSENT, 0, False)

    async def test_clearing_an_absent_memory_is_no_error(self, memory: Driven) -> None:
        assert (await memory.clear()).cleared == 0

    async def test_a_clear_of_one_version_leaves_what_was_written_since(self, memory: Driven) -> None:
        await memory.append(user("a"))
        seen = (await memory.stats()).version
        await memory.append(user("b"))
        with pytest.raises(MemoryConflict):
            await memory.clear(if_version=seen)
        assert await memory.texts() == ["a", "b"]
        assert (await memory.clear(if_version=(await memory.stats()).version)).cleared == 2
        assert (await memory.stats()).exists is False

    async def test_a_repeated_clear_of_one_version_answers_the_same(self, memory: Driven) -> None:
        await memory.append(user("a"))
        seen = (await memory.stats()).version
        first = await memory.clear(op="once", if_version=seen)
        await memory.append(user("b"))
        assert await memory.clear(op="once", if_version=seen) == first
        assert await memory.texts() == ["b"]

    async def test_what_is_written_after_a_clear_is_a_new_memory(self, memory: Driven) -> None:
        old = await memory.append(user("a"))
        await memory.clear()
        new = await memory.append(user("b"))
        assert (new.created, await memory.texts()) == (True, ["b"])
        assert (old.ids[0] != new.ids[0], old.version != new.version) == (True, True)

    async def test_a_flush_in_progress_finds_the_memory_gone(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch()
        await memory.summarise(batch)
        await memory.clear()
        assert await memory.store.content(memory.memory, batch, 0) == "gone"
        assert await memory.store.renew(memory.memory, batch, memory.limits) is False
        assert (await memory.commit(batch)).outcome == "gone"
        assert (await memory.stats()).exists is False

    async def test_a_cleared_memory_can_be_flushed_again_at_once(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        await memory.batch("flusher/1")
        await memory.clear()
        await memory.append(*(user(text) for text in "hijklmn"))
        assert (await memory.flush("flusher/2")).outcome == "committed"

    async def test_a_memory_is_gone_after_its_ttl(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(ttl_ms=TTL_MS))
        await memory.append(*(user(text) for text in "abcdefghij"))
        await asyncio.sleep(AFTER_TTL_SECONDS)
        view, stats = await memory.state()
        assert (view.entries, view.version, view.omitted_messages, stats.exists) == ((), ABSENT, 0, False)
        assert (await memory.append(user("k"))).created is True
        assert await memory.texts() == ["k"]

    async def test_a_flush_does_not_keep_a_memory_alive(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(ttl_ms=TTL_MS))
        await memory.append(*(user(text) for text in "abcdefg"))
        expires = (await memory.stats()).expires_at
        batch = await memory.batch()
        await memory.summarise(batch)
        await memory.commit(batch)
        assert (await memory.stats()).expires_at in (expires, None)
        await asyncio.sleep(AFTER_TTL_SECONDS)
        assert (await memory.read()).version == ABSENT

    async def test_a_flush_of_an_expired_memory_finds_it_gone(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(ttl_ms=TTL_MS))
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch()
        await asyncio.sleep(AFTER_TTL_SECONDS)
        assert await memory.store.content(memory.memory, batch, 0) == "gone"
        assert (await memory.commit(batch)).outcome == "gone"
        assert (await memory.refused_begin("other")).outcome == "gone"

    async def test_a_ttl_that_was_removed_lets_the_memory_live(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(ttl_ms=TTL_MS))
        await memory.append(user("a"))
        lasting = memory.under(summarising(ttl_ms=None))
        await lasting.append(user("b"))
        await asyncio.sleep(AFTER_TTL_SECONDS)
        assert await lasting.texts() == ["a", "b"]

    async def test_a_later_write_prolongs_the_whole_memory(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(ttl_ms=TTL_MS))
        await memory.append(*(user(text) for text in "abcdefghi"))
        longer = memory.under(summarising(ttl_ms=3_600_000))
        await longer.append(user("j"))
        await asyncio.sleep(AFTER_TTL_SECONDS)
        assert await longer.texts() == list("cdefghij")
        assert (await longer.read()).omitted_messages == 2
