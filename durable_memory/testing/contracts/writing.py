"""Conformance: a write replaces everything in one step, or nothing, and only the version that it was made for."""

from __future__ import annotations

import asyncio

import pytest

from durable_memory.memory.errors import MemoryConflict, MemoryOrphanResult, MemoryOversize
from durable_memory.memory.stores.values import ABSENT
from durable_memory.testing.contracts.builders import call, result, summarising, system, texts_of, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven


class WritingContract(StoreCase):
    """Atomic replacement."""

    async def test_a_write_replaces_live_and_waiting_messages_and_summaries(self, memory: Driven) -> None:
        await memory.append(system("s"), *(user(text) for text in "abc"))
        await memory.flush(force=True)
        await memory.append(*(user(text) for text in "defghijkl"))
        before = await memory.stats()
        written = await memory.write(user("w"), system("t"))
        view = await memory.read()
        assert (texts_of(view), view.tokens, view.omitted_messages, view.omitted_tokens) == (["t", "w"], 20, 0, 0)
        assert written.removed == sum(before.messages.values()) + before.omitted.messages
        assert (written.tokens, written.messages, written.created) == (20, 2, False)
        await memory.check_counters()

    async def test_a_write_to_an_absent_memory_creates_it(self, memory: Driven) -> None:
        written = await memory.write(user("w"))
        assert (written.created, written.removed, await memory.texts()) == (True, 0, ["w"])

    async def test_the_version_that_was_read_may_be_replaced(self, memory: Driven) -> None:
        await memory.append(user("a"))
        written = await memory.write(user("w"), if_version=(await memory.read()).version)
        assert written.version == (await memory.read()).version
        assert await memory.texts() == ["w"]

    async def test_another_version_is_a_conflict_and_changes_nothing(self, memory: Driven) -> None:
        old = (await memory.append(user("a"))).version
        await memory.append(user("b"))
        before = await memory.state()
        for version in (old, ABSENT, "nonsense"):
            with pytest.raises(MemoryConflict):
                await memory.write(user("w"), if_version=version)
        assert await memory.state() == before

    async def test_a_write_over_absent_creates_and_never_replaces(self, memory: Driven) -> None:
        await memory.write(user("w"), if_version=ABSENT)
        with pytest.raises(MemoryConflict):
            await memory.write(user("v"), if_version=ABSENT)
        assert await memory.texts() == ["w"]

    async def test_any_version_of_an_absent_memory_is_a_conflict(self, memory: Driven) -> None:
        version = (await memory.append(user("a"))).version
        await memory.clear()
        with pytest.raises(MemoryConflict):
            await memory.write(user("w"), if_version=version)
        assert (await memory.stats()).exists is False

    async def test_a_background_flush_is_a_change_that_conflicts(self, memory: Driven) -> None:
        version = (await memory.append(*(user(text) for text in "abcdefg"))).version
        await memory.flush()
        with pytest.raises(MemoryConflict):
            await memory.write(user("w"), if_version=version)

    async def test_of_two_writes_for_one_version_one_wins(self, memory: Driven) -> None:
        version = (await memory.append(user("a"))).version
        outcomes = await asyncio.gather(
            *(memory.write(user(text), if_version=version) for text in "vw"), return_exceptions=True
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["AppendResult", "MemoryConflict"]

    async def test_a_refused_write_changes_nothing(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefghi"))
        batch = await memory.batch()
        before = await memory.state()
        with pytest.raises(MemoryOversize):
            await memory.write(user("w"), user("giant", 81))
        with pytest.raises(MemoryOrphanResult):
            await memory.write(user("w"), result("r", "never-called"))
        assert await memory.state() == before
        await memory.summarise(batch)
        assert (await memory.commit(batch)).outcome == "committed"

    async def test_a_write_larger_than_the_budget_evicts_its_own_first_messages(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefghi"))
        written = await memory.write(*(user(str(number)) for number in range(10)))
        assert (written.evicted, await memory.texts()) == (2, [str(number) for number in range(2, 10)])
        assert await memory.waiting() == ["0", "1"]

    async def test_a_write_that_does_not_fit_an_empty_overflow_is_refused(self, memory: Driven) -> None:
        await memory.append(user("a"))
        before = await memory.state()
        with pytest.raises(MemoryOversize):
            await memory.write(*(user(str(number)) for number in range(49)))
        assert await memory.state() == before

    async def test_a_write_needs_no_room_for_what_it_replaces(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(overflow_tokens=200))
        await memory.append(*(user(str(number)) for number in range(28)))
        written = await memory.write(*(user(text) for text in "abcdefghij"))
        assert (written.removed, written.evicted) == (28, 2)

    async def test_a_write_forgets_the_calls_that_it_replaced(self, memory: Driven) -> None:
        await memory.append(call("C", "1"))
        await memory.write(user("w"))
        with pytest.raises(MemoryOrphanResult):
            await memory.append(result("r", "1"))

    async def test_ids_from_before_a_write_refer_to_nothing(self, memory: Driven) -> None:
        old = await memory.append_each(user("a"), user("b"))
        await memory.write(user("w"), user("v"))
        deleted = await memory.delete(*old)
        assert (deleted.removed, set(deleted.not_found)) == ((), set(old))
        assert await memory.texts() == ["w", "v"]

    async def test_readers_see_the_old_or_the_new_and_nothing_between(self, memory: Driven) -> None:
        old, new = [f"old{number}" for number in range(6)], [f"new{number}" for number in range(6)]
        await memory.write(*(user(text) for text in old))

        async def replace() -> None:
            for texts in (new, old) * 10:
                await memory.write(*(user(text) for text in texts))

        writing = asyncio.create_task(replace())
        seen = [await memory.texts() for _ in range(60)]
        await writing
        assert [texts for texts in seen if texts not in (old, new)] == []
