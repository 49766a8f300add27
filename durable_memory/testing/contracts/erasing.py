"""Conformance: an erase leaves nothing of a memory, not even its backups, and nothing of it can come back."""

from __future__ import annotations

import asyncio

import pytest

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.stores.values import ABSENT, Erased
from durable_memory.testing.contracts.backups import fill
from durable_memory.testing.contracts.builders import summarising, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven


class ErasingContract(StoreCase):
    """The end of a memory and of all that was kept of it."""

    async def test_an_erase_removes_the_memory_and_every_backup(self, memory: Driven) -> None:
        backups = []
        for text in "abc":
            await memory.append(user(text))
            backups.append((await memory.clear(backup=True)).backup_id)
        await fill(memory)
        before = await memory.stats()
        held = sum(before.messages.values()) + before.omitted.messages
        assert await memory.erase() == Erased(existed=True, version=before.version, messages=held, backups=3)
        view, stats = await memory.state()
        assert (view.entries, view.version, stats.exists, stats.backups) == ((), ABSENT, False, ())
        for backup in backups:
            with pytest.raises(MemoryInvalid, match="backup_id"):
                await memory.restore(backup)

    async def test_backups_of_a_memory_that_is_gone_are_erased(self, memory: Driven) -> None:
        await memory.append(user("a"))
        await memory.clear(backup=True)
        assert await memory.erase() == Erased(existed=False, version=None, messages=0, backups=1)
        assert (await memory.stats()).backups == ()

    async def test_an_erase_of_nothing_is_no_error(self, memory: Driven) -> None:
        assert await memory.erase() == Erased(existed=False, version=None, messages=0, backups=0)

    async def test_an_erase_takes_nothing_of_another_memory(self, open_memory: OpenMemory) -> None:
        one, other = open_memory(summarising()), open_memory(summarising())
        for memory in (one, other):
            await memory.append(user("a"))
            await memory.clear(backup=True)
            await memory.append(user("b"))
        await one.erase()
        assert (await other.texts(), len((await other.stats()).backups)) == (["b"], 1)

    async def test_a_memory_that_was_born_later_is_kept_without_the_backups_of_before(self, memory: Driven) -> None:
        await memory.append(user("old"))
        await memory.clear(backup=True)
        began_ms = memory.clock.now_ms()
        await asyncio.sleep(0.005)
        await memory.append(user("new"))
        erased = await memory.erase(born_until_ms=began_ms)
        assert erased == Erased(existed=False, version=None, messages=0, backups=1, kept=True)
        assert (await memory.texts(), (await memory.stats()).backups) == (["new"], ())

    async def test_a_memory_that_was_restored_later_is_as_old_as_it_was(self, memory: Driven) -> None:
        await memory.append(user("old"))
        began_ms = memory.clock.now_ms() + 2
        await asyncio.sleep(0.005)
        await memory.restore((await memory.clear(backup=True)).backup_id)
        erased = await memory.erase(born_until_ms=began_ms)
        assert (erased.messages, erased.backups, erased.kept) == (1, 1, False)

    async def test_a_call_from_before_an_erase_does_not_bring_its_messages_back(self, memory: Driven) -> None:
        await memory.append(user("a"), op="once")
        await memory.erase()
        assert (await memory.append(user("a"), op="once")).already_applied is True
        assert (await memory.read()).version == ABSENT

    async def test_a_flush_in_progress_finds_the_memory_erased(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch()
        await memory.summarise(batch)
        await memory.erase()
        assert (await memory.commit(batch)).outcome == "gone"
        assert (await memory.stats()).exists is False

    async def test_what_is_written_after_an_erase_is_a_new_memory(self, memory: Driven) -> None:
        old = await memory.append(user("a"))
        await memory.erase()
        new = await memory.append(user("b"))
        assert (new.created, await memory.texts()) == (True, ["b"])
        assert old.ids[0] != new.ids[0]
