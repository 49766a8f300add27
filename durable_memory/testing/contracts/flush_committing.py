"""Conformance: a commit replaces exactly its batch by a summary that fits, in one step."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from durable_memory.memory.errors import MemorySummaryRejected
from durable_memory.testing.contracts.builders import summarising, summary, text_of, texts_of, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven


class FlushCommitContract(StoreCase):
    """What a commit does."""

    async def test_since_when_a_flush_is_due_is_told_until_it_has_ended(self, memory: Driven) -> None:
        await memory.append(*(user(f"m{number}") for number in range(6)))
        assert (await memory.stats()).due_since is None
        await memory.append(user("makes it due"))
        since = (await memory.stats()).due_since
        assert since is not None
        await asyncio.sleep(0.01)
        await memory.append(user("more"), user("and more"))
        assert (await memory.stats()).due_since == since
        await memory.store.fail(memory.memory, await memory.batch("failing"), "Boom", 1)
        assert (await memory.stats()).due_since == since
        await asyncio.sleep(0.01)
        await memory.flush()
        assert (await memory.stats()).due_since is None
        await memory.append(*(user(f"n{number}") for number in range(3)))
        again = (await memory.stats()).due_since
        assert again is not None
        assert again > since
        await memory.delete(*(entry.id for entry in (await memory.read()).entries))
        assert (await memory.stats()).due_since is None

    async def test_a_commit_replaces_the_batch_by_its_summary_in_one_step(self, memory: Driven) -> None:
        ids = (await memory.append(*(user(text) for text in "abcdefg"))).ids
        committed = await memory.flush()
        view, stats = await memory.state()
        assert [(entry.section, text_of(entry)) for entry in view.entries] == [
            ("long_term", "a b c"),
            *(("short_term", text) for text in "defg"),
        ]
        assert (committed.removed_ids, committed.summary_id) == (ids[:3], view.entries[0].id)
        assert (committed.tokens_before, committed.tokens_after) == (70, 50)
        assert (committed.messages_before, committed.messages_after, committed.flush_due) == (7, 5, False)
        assert (stats.tokens["long_term"], stats.messages["long_term"], stats.last_flush_outcome) == (
            10,
            1,
            "committed",
        )
        assert (stats.flushing_owner, stats.last_flush_at is None) == (None, False)
        await memory.check_counters()

    async def test_a_commit_changes_the_version(self, memory: Driven) -> None:
        version = (await memory.append(*(user(text) for text in "abcdefg"))).version
        await memory.flush()
        assert (await memory.read()).version != version

    async def test_messages_that_come_during_a_flush_stay(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch()
        await memory.summarise(batch)
        await memory.append(user("h"))
        await memory.commit(batch)
        assert await memory.texts() == ["a b c", "d", "e", "f", "g", "h"]

    async def test_an_earlier_summary_is_part_of_the_next(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        await memory.flush("flusher/1")
        await memory.append(*(user(text) for text in "hij"))
        batch = await memory.batch("flusher/2")
        assert await memory.content_texts(batch) == ["a b c", "d", "e", "f"]
        await memory.summarise(batch)
        await memory.commit(batch)
        assert await memory.texts() == ["a b c d e f", "g", "h", "i", "j"]
        await memory.check_counters()

    async def test_what_waits_is_summarised_and_no_longer_omitted(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefghij"))
        await memory.flush()
        view = await memory.read()
        assert (texts_of(view), view.omitted_messages) == (["a b c d e f", "g", "h", "i", "j"], 0)

    async def test_content_comes_in_pages_that_lose_nothing(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(max_tokens=20_020, due_tokens=100, target_tokens=0))
        await memory.append(*(user(f"{number} " + "x" * 2000, 20) for number in range(900)))
        texts = await memory.content_texts(await memory.batch())
        assert [text.split()[0] for text in texts] == [str(number) for number in range(900)]

    async def test_the_last_draft_counts(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch()
        for text in ("first", "second"):
            assert await memory.store.draft(memory.memory, batch, summary(text)) is None
        await memory.commit(batch)
        assert (await memory.texts())[0] == "second"

    async def test_a_commit_without_a_draft_is_rejected_and_the_batch_stands(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch()
        before = await memory.read()
        with pytest.raises(MemorySummaryRejected):
            await memory.commit(batch)
        assert await memory.read() == before
        await memory.summarise(batch)
        assert (await memory.commit(batch)).outcome == "committed"

    @pytest.mark.parametrize(("text", "tokens"), [("x", 0), ("x", 21)], ids=["empty", "too large"])
    async def test_a_summary_that_is_no_summary_is_rejected(self, memory: Driven, text: str, tokens: int) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch()
        await memory.store.draft(memory.memory, batch, summary(text, tokens))
        before = await memory.read()
        with pytest.raises(MemorySummaryRejected):
            await memory.commit(batch)
        assert await memory.read() == before

    async def test_a_summary_may_fill_its_room(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefgh"))
        batch = await memory.batch()
        await memory.summarise(batch, tokens=batch.summary_max)
        await memory.append(*(user(text) for text in "ijklmnop"))
        assert (await memory.commit(batch)).tokens_after == 100

    async def test_a_batch_with_a_forged_part_is_stale(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch()
        await memory.summarise(batch)
        before = await memory.read()
        for forged in (
            replace(batch, incarnation="0" * 16),
            replace(batch, fence=batch.fence + 1),
            replace(batch, flush_id="flusher/2"),
            replace(batch, id="other"),
        ):
            assert (await memory.commit(forged)).outcome == "stale"
        assert await memory.read() == before
        assert (await memory.commit(batch)).outcome == "committed"

    async def test_appends_never_wait_for_a_flush(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        await memory.batch()
        assert (await memory.append(user("h"), user("i"))).evicted == 1
        assert (await memory.stats()).flushing_owner == "flusher/1"
