"""Conformance: a clear can keep all that it removes, and a restore brings it back as it was, to its own memory."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from durable_memory.memory.errors import MemoryConflict, MemoryInvalid, MemoryOperationConflict, MemoryUndecryptable
from durable_memory.memory.privacy.sealed_payload import seal_of, sealed_payload
from durable_memory.memory.stores.values import ABSENT, BACKUP_LIFETIME_MS, Entry, StoredEntry
from durable_memory.testing.contracts.builders import (
    AFTER_TTL_SECONDS,
    TTL_MS,
    call,
    divided,
    result,
    summarising,
    system,
    texts_of,
    user,
)
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven


async def fill(memory: Driven) -> None:
    """Puts something of each kind into a memory: summary, system, pinned, groups, overflow."""
    await memory.append(*(user(text) for text in "abcdefgh"))
    await memory.flush(force=True)
    await memory.append(system("s", 5), user("p", 5, pinned=True), call("C", "1"), result("r", "1"))
    await memory.append(*(user(text) for text in "ijklmn"))


def sealed(key: str, entry: Entry) -> Entry:
    """An entry as it is stored once a key of this name has encrypted it."""
    return replace(entry, payload=sealed_payload(key, entry.payload))


class BackupContract(StoreCase):
    """Backups and their return."""

    async def test_a_restore_brings_back_what_the_clear_removed(self, memory: Driven) -> None:
        await fill(memory)
        before, counters = await memory.state()
        cleared = await memory.clear(backup=True)
        assert (await memory.read()).version == ABSENT
        restored = await memory.restore(cleared.backup_id)
        view, stats = await memory.state()
        assert texts_of(view) == texts_of(before)
        assert [(one.section, one.tokens, one.pinned) for one in view.entries] == [
            (one.section, one.tokens, one.pinned) for one in before.entries
        ]
        assert (
            (view.omitted_messages, view.omitted_tokens) == (before.omitted_messages, before.omitted_tokens) != (0, 0)
        )
        assert (stats.tokens, stats.messages) == (counters.tokens, counters.messages)
        assert (restored.tokens, restored.messages, restored.flush_due) == (view.tokens, len(view.entries), True)
        assert (restored.created, restored.version, restored.ids) == (True, view.version, ())
        (incarnation, number, _), (old_incarnation, old_number, _) = view.version.split(":"), before.version.split(":")
        assert (incarnation != old_incarnation, int(number)) == (True, int(old_number) + 1)
        await memory.check_counters()

    async def test_a_restored_memory_lives_on(self, memory: Driven) -> None:
        await memory.append(call("C", "1"), user("a"), user("b"))
        await memory.restore((await memory.clear(backup=True)).backup_id)
        await memory.append(result("r", "1"), user("c"))
        assert await memory.texts() == ["C", "r", "a", "b", "c"]
        await memory.flush(force=True)
        assert (await memory.read()).entries[0].section == "long_term"
        await memory.check_counters()

    async def test_nothing_of_before_touches_what_is_restored(self, memory: Driven) -> None:
        ids = (await memory.append(*(user(text) for text in "abcdefg"))).ids
        batch = await memory.batch()
        await memory.summarise(batch)
        await memory.restore((await memory.clear(backup=True)).backup_id)
        assert (await memory.delete(*ids)).removed == ()
        assert (await memory.commit(batch)).outcome == "stale"
        assert await memory.texts() == list("abcdefg")

    async def test_a_restore_replaces_what_was_written_since(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abc"))
        backup = (await memory.clear(backup=True)).backup_id
        await memory.append(*(user(text) for text in "xyz"))
        assert (await memory.restore(backup)).removed == 3
        assert await memory.texts() == list("abc")

    async def test_a_restore_of_one_version_leaves_what_was_written_since(self, memory: Driven) -> None:
        await memory.append(user("a"))
        backup = (await memory.clear(backup=True)).backup_id
        await memory.append(user("x"))
        with pytest.raises(MemoryConflict):
            await memory.restore(backup, if_version=ABSENT)
        assert await memory.texts() == ["x"]
        await memory.restore(backup, if_version=(await memory.read()).version)
        assert await memory.texts() == ["a"]

    async def test_a_repeated_restore_brings_nothing_back_a_second_time(self, memory: Driven) -> None:
        await memory.append(user("a"))
        backup = (await memory.clear(backup=True)).backup_id
        first = await memory.restore(backup, op="undo")
        await memory.append(user("b"))
        again = await memory.restore(backup, op="undo")
        assert (first.already_applied, again.already_applied) == (False, True)
        assert (again.version, again.messages) == ((await memory.read()).version, 2)
        assert await memory.texts() == ["a", "b"]
        with pytest.raises(MemoryOperationConflict):
            await memory.append(user("c"), op="undo")

    async def test_a_restore_answers_what_it_brought_back_whatever_comes_meanwhile(self, memory: Driven) -> None:
        held = await memory.append(user("a"), user("b"))
        backup = (await memory.clear(backup=True)).backup_id
        restored = asyncio.create_task(memory.restore(backup))

        async def say() -> None:
            while not restored.done():
                await memory.append(user("meanwhile", 1))
                await asyncio.sleep(0)

        await asyncio.gather(*(say() for _ in range(4)))
        answer = restored.result()
        number = int(held.version.split(":")[1]) + 1
        assert (answer.messages, answer.tokens, int(answer.version.split(":")[1])) == (2, 20, number)
        await memory.append(user("later", 1))
        with pytest.raises(MemoryConflict):
            await memory.write(user("instead"), if_version=answer.version)

    async def test_a_repeated_clear_answers_the_same_backup(self, memory: Driven) -> None:
        await memory.append(user("a"))
        first = await memory.clear(op="once", backup=True)
        assert await memory.clear(op="once", backup=True) == first
        assert [backup.id for backup in (await memory.stats()).backups] == [first.backup_id]

    async def test_a_backup_can_be_restored_again(self, memory: Driven) -> None:
        await memory.append(user("a"))
        backup = (await memory.clear(backup=True)).backup_id
        for _ in range(2):
            await memory.restore(backup)
            await memory.append(user("b"))
            assert await memory.texts() == ["a", "b"]

    async def test_stats_list_the_backups_also_of_a_memory_that_is_gone(self, memory: Driven) -> None:
        kept = []
        for texts in ("abc", "de"):
            await memory.append(*(user(text) for text in texts))
            kept.append((await memory.clear(backup=True)).backup_id)
        stats = await memory.stats()
        assert stats.exists is False
        assert [(backup.id, backup.messages) for backup in stats.backups] == [(kept[0], 3), (kept[1], 2)]
        lifetime = stats.backups[0].ends_at - stats.backups[0].created_at
        assert lifetime.total_seconds() * 1000 == BACKUP_LIFETIME_MS

    async def test_there_is_no_backup_of_nothing_and_none_that_was_not_asked_for(self, memory: Driven) -> None:
        assert (await memory.clear(backup=True)).backup_id is None
        await memory.append(user("a"))
        assert (await memory.clear()).backup_id is None
        assert (await memory.stats()).backups == ()

    @pytest.mark.parametrize("backup", ["", "nonsense", "0" * 16, "../../0000000000", "0" * 15 + "*"])
    async def test_an_unknown_backup_is_refused_and_changes_nothing(self, memory: Driven, backup: str) -> None:
        await memory.append(user("a"))
        before = await memory.state()
        with pytest.raises(MemoryInvalid, match="backup_id"):
            await memory.restore(backup)
        assert await memory.state() == before

    async def test_what_is_no_id_of_a_backup_is_told_before_an_old_version(self, memory: Driven) -> None:
        await memory.append(user("a"), op="one")
        with pytest.raises(MemoryInvalid, match="backup_id"):
            await memory.restore("nonsense", if_version=ABSENT, op="one")
        with pytest.raises(MemoryConflict):
            await memory.restore("0" * 16, if_version=ABSENT)

    async def test_one_message_for_each_key_is_looked_at_before_a_restore(self, memory: Driven) -> None:
        await memory.append(sealed("k1", call("C", "1")), *(sealed("k1", user(text)) for text in "abcdefgh"))
        await memory.append(user("plain"), *(sealed("k2", user(text)) for text in "ij"))
        before = await memory.read()
        assert before.omitted_messages > 0
        backup = (await memory.clear(backup=True)).backup_id
        looked_at: list[StoredEntry] = []
        await memory.restore(backup, check_readable=looked_at.append)
        assert sorted(seal_of(entry.payload) for entry in looked_at) == ["", "enc:1:k1", "enc:1:k2"]
        assert {entry.tokens for entry in looked_at} == {10}
        assert [entry.payload for entry in (await memory.read()).entries] == [one.payload for one in before.entries]

    async def test_a_key_of_waiting_messages_alone_is_looked_at_too(self, memory: Driven) -> None:
        await memory.append(*(sealed("k1", user(text)) for text in "abc"))
        await memory.append(*(user(text) for text in "defghijklm"))
        view = await memory.read()
        assert {seal_of(entry.payload) for entry in view.entries} == {""}
        backup = (await memory.clear(backup=True)).backup_id
        looked_at: list[StoredEntry] = []
        await memory.restore(backup, check_readable=looked_at.append)
        assert sorted(seal_of(entry.payload) for entry in looked_at) == ["", "enc:1:k1"]

    async def test_a_backup_that_the_caller_cannot_read_replaces_nothing(self, memory: Driven) -> None:
        def refuse(entry: StoredEntry) -> None:
            raise MemoryUndecryptable(entry.id)

        await memory.append(sealed("k1", user("a")))
        backup = (await memory.clear(backup=True)).backup_id
        await memory.append(user("x"))
        before = await memory.state()
        with pytest.raises(MemoryUndecryptable):
            await memory.restore(backup, op="undo", check_readable=refuse)
        assert await memory.state() == before
        # The same operation goes through where it can be read.
        assert not (await memory.restore(backup, op="undo")).already_applied

    async def test_what_is_refused_or_applied_anyway_is_not_looked_at(self, memory: Driven) -> None:
        await memory.append(user("a"))
        backup = (await memory.clear(backup=True)).backup_id
        await memory.append(user("x"), op="x")
        looked_at: list[StoredEntry] = []
        with pytest.raises(MemoryConflict):
            await memory.restore(backup, if_version=ABSENT, check_readable=looked_at.append)
        with pytest.raises(MemoryOperationConflict):
            await memory.restore(backup, op="x", check_readable=looked_at.append)
        with pytest.raises(MemoryInvalid):
            await memory.restore("0" * 16, check_readable=looked_at.append)
        await memory.restore(backup, op="undo")
        assert (await memory.restore(backup, op="undo", check_readable=looked_at.append)).already_applied
        assert looked_at == []

    async def test_a_backup_of_another_memory_is_refused(self, open_memory: OpenMemory) -> None:
        one, other = open_memory(summarising()), open_memory(summarising())
        await one.append(user("a"))
        backup = (await one.clear(backup=True)).backup_id
        with pytest.raises(MemoryInvalid, match="backup_id"):
            await other.restore(backup)
        assert (await other.stats()).exists is False

    async def test_a_restored_memory_has_the_lifetime_of_its_declaration(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(ttl_ms=3_600_000))
        await memory.append(user("a"))
        backup = (await memory.clear(backup=True)).backup_id
        await memory.restore(backup)
        expires = (await memory.stats()).expires_at
        assert expires is not None
        assert abs(expires.timestamp() * 1000 - memory.clock.now_ms() - 3_600_000) < 60_000
        await memory.under(summarising(ttl_ms=None)).restore(backup)
        assert (await memory.stats()).expires_at is None

    async def test_a_backup_outlives_the_lifetime_of_what_it_was_made_of(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(ttl_ms=TTL_MS))
        await memory.append(user("a"), call("C", "1"), result("r", "1"))
        backup = (await memory.clear(backup=True)).backup_id
        await asyncio.sleep(AFTER_TTL_SECONDS)
        lasting = memory.under(summarising(ttl_ms=None))
        await lasting.restore(backup)
        await asyncio.sleep(AFTER_TTL_SECONDS)
        assert await lasting.texts() == ["a", "C", "r"]
        await lasting.check_counters()

    async def test_what_is_restored_can_be_flushed_at_once(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        backup = (await memory.clear(backup=True)).backup_id
        await memory.append(*(user(text) for text in "hijklmn"))
        old = await memory.batch("flusher/1")
        await memory.restore(backup)
        assert (await memory.flush("flusher/2")).outcome == "committed"
        assert (await memory.texts())[0] == "a b c"
        assert (await memory.commit(old)).outcome == "stale"

    async def test_since_when_a_flush_is_due_counts_from_the_restore(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        before = (await memory.stats()).due_since
        backup = (await memory.clear(backup=True)).backup_id
        await asyncio.sleep(0.01)
        assert (await memory.restore(backup)).flush_due
        since = (await memory.stats()).due_since
        assert before is not None
        assert since is not None
        assert since > before
        await asyncio.sleep(0.01)
        await memory.append(user("h"))
        assert (await memory.stats()).due_since == since

    async def test_a_restore_of_less_waits_for_no_flush_that_was_due_before(self, open_memory: OpenMemory) -> None:
        shared = open_memory(divided())
        await shared.append(*(user(f"b{number}", section="bookings") for number in range(3)))
        backup = (await shared.clear(backup=True)).backup_id
        await shared.append(user("n", 16, section="notes"))
        assert (await shared.stats()).due_since is not None
        await shared.restore(backup)
        assert (await shared.stats()).due_since is None
        await asyncio.sleep(0.01)
        restored = (await shared.stats()).updated_at
        await shared.append(user("b3", section="bookings"))
        since = (await shared.stats()).due_since
        assert since is not None
        assert restored is not None
        assert since > restored
