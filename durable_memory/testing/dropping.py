"""Conformance: the flush of a memory that drops selects by the same rules and removes in one step."""

from __future__ import annotations

import asyncio

from durable_memory.testing.builders import call, dropping, system, user
from durable_memory.testing.case import OpenMemory, StoreCase


class DroppingContract(StoreCase):
    """Flushing without summaries."""

    async def test_a_drop_takes_the_oldest_until_the_target(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping())
        ids = (await memory.append(*(user(text) for text in "abcdefgh"))).ids
        dropped = await memory.drop()
        assert (dropped.outcome, dropped.removed_ids, dropped.summary_id) == ("dropped", ids[:4], None)
        assert (dropped.tokens_before, dropped.tokens_after) == (80, 40)
        assert (dropped.messages_before, dropped.messages_after, dropped.flush_due) == (8, 4, False)
        assert await memory.texts() == list("efgh")
        assert (await memory.stats()).last_flush_outcome == "dropped"

    async def test_below_the_threshold_nothing_is_dropped(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping())
        await memory.append(*(user(text) for text in "abc"))
        dropped = await memory.drop()
        assert (dropped.outcome, dropped.reason, await memory.texts()) == ("nothing", "below_threshold", list("abc"))

    async def test_a_forced_flush_drops_all_but_what_is_kept(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(keep_first=1, keep_last=1))
        await memory.append(system("s"), user("p", pinned=True), call("C", "1"), *(user(text) for text in "abc"))
        assert (await memory.drop(force=True)).outcome == "dropped"
        assert await memory.texts() == ["s", "p", "c"]
        assert (await memory.stats()).messages["short_term"] == 3

    async def test_a_drop_finds_an_absent_memory_gone(self, open_memory: OpenMemory) -> None:
        assert (await open_memory(dropping()).drop(force=True)).outcome == "gone"

    async def test_a_repeated_drop_drops_nothing_more(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping())
        await memory.append(*(user(text) for text in "abcdefgh"))
        first = await memory.drop(op="flush")
        await memory.append(*(user(text) for text in "ijkl"))
        again = await memory.drop(op="flush")
        assert (again.outcome, again.removed_ids) == ("dropped", first.removed_ids)
        assert await memory.texts() == list("efghijkl")

    async def test_an_eviction_that_makes_room_ends_the_wait_for_a_flush(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(max_tokens=60, due_tokens=48))
        await memory.append(user("a", 30))
        await memory.append(user("b", 20))
        before = (await memory.stats()).due_since
        assert not (await memory.append(user("c", 11))).flush_due
        await asyncio.sleep(0.01)
        assert (await memory.append(user("d", 20))).flush_due
        since = (await memory.stats()).due_since
        assert before is not None
        assert since is not None
        assert since > before
