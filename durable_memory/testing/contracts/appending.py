"""Conformance: what is appended stands in the view as it was given, all of a batch or nothing, in its own memory."""

from __future__ import annotations

import asyncio
import json
import uuid

import pytest

from durable_memory.memory.errors import MemoryOrphanResult, MemoryOversize
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.stores.values import ABSENT, Entry
from durable_memory.testing.contracts.builders import dropping, result, summarising, system, texts_of, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven


class AppendingContract(StoreCase):
    """Appending, and what is refused."""

    async def test_a_memory_that_was_never_written_is_an_empty_view_of_version_absent(self, memory: Driven) -> None:
        view, stats = await memory.state()
        assert (view.entries, view.tokens, view.version, view.flush_due) == ((), 0, ABSENT, False)
        assert (stats.exists, stats.version) == (False, ABSENT)

    async def test_only_the_first_append_says_that_it_created_the_memory(self, memory: Driven) -> None:
        first, second = await memory.append(user("a")), await memory.append(user("b"))
        assert (first.created, second.created) == (True, False)

    async def test_messages_stand_in_the_order_in_which_they_came(self, memory: Driven) -> None:
        await memory.append(user("a"), user("b"))
        await memory.append(user("c"))
        assert await memory.texts() == ["a", "b", "c"]

    async def test_the_answer_counts_the_view_after_the_append(self, memory: Driven) -> None:
        await memory.append(user("a", 7))
        appended = await memory.append(user("b", 5), system("s", 3))
        assert (appended.tokens, appended.messages, appended.evicted, appended.late) == (15, 3, 0, 0)
        assert (appended.flush_due, appended.already_applied) == (False, False)

    async def test_ids_are_those_that_the_view_shows_and_never_repeat(self, memory: Driven) -> None:
        ids = [*(await memory.append(user("a"), user("b"))).ids, *(await memory.append(user("c"))).ids]
        assert [entry.id for entry in (await memory.read()).entries] == ids
        assert len(set(ids)) == 3

    async def test_each_append_changes_the_version_and_answers_the_one_that_the_view_shows(
        self, memory: Driven
    ) -> None:
        first = (await memory.append(user("a"))).version
        second = (await memory.append(user("b"))).version
        assert len({ABSENT, first, second}) == 3
        assert (await memory.read()).version == (await memory.stats()).version == second

    @pytest.mark.parametrize(
        "text",
        ["", "grüße 東京 🎉", "a" * 50_000, 'quotes " and \\ and \n and \t', "KEYS[1] .. \x7f", "null", "{braces}"],
        ids=["empty", "scripts", "long", "escapes", "control", "null", "braces"],
    )
    async def test_a_payload_comes_back_as_it_was_given(self, memory: Driven, text: str) -> None:
        payload = json.dumps({"role": "user", "content": text}, ensure_ascii=False)
        await memory.append(Entry(payload, "short_term", 5))
        assert [entry.payload for entry in (await memory.read()).entries] == [payload]

    async def test_a_message_without_tokens_is_a_message(self, memory: Driven) -> None:
        appended = await memory.append(user("a", 0))
        assert (appended.tokens, appended.messages) == (0, 1)
        assert await memory.texts() == ["a"]

    async def test_a_batch_of_a_thousand_is_one_step(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(max_tokens=20_000, due_tokens=15_000, target_tokens=8_000))
        appended = await memory.append(*(user(str(i)) for i in range(1000)))
        assert (appended.messages, appended.tokens, len(set(appended.ids))) == (1000, 10_000, 1000)
        assert await memory.texts() == [str(i) for i in range(1000)]

    async def test_a_batch_with_one_refused_message_stores_nothing(self, memory: Driven) -> None:
        await memory.append(user("a"))
        before = await memory.state()
        with pytest.raises(MemoryOrphanResult):
            await memory.append(user("b"), result("r", "never-called"), user("c"))
        assert await memory.state() == before

    async def test_a_refused_first_append_leaves_no_memory_behind(self, memory: Driven) -> None:
        with pytest.raises(MemoryOrphanResult):
            await memory.append(result("r", "never-called"))
        assert (await memory.stats()).exists is False
        assert (await memory.append(user("a"))).created is True

    async def test_a_message_larger_than_its_room_is_refused_with_both_numbers(self, memory: Driven) -> None:
        await memory.append(user("a"))
        before = await memory.state()
        with pytest.raises(MemoryOversize, match=r"(?s)(?=.*\b81\b)(?=.*\b80\b)"):
            await memory.append(user("b"), user("giant", 81))
        assert await memory.state() == before

    async def test_a_message_as_large_as_its_room_is_taken(self, memory: Driven) -> None:
        appended = await memory.append(user("a", 80))
        assert (appended.tokens, appended.messages) == (80, 1)

    async def test_system_messages_that_leave_no_room_are_refused_with_both_numbers(self, memory: Driven) -> None:
        await memory.append(system("s", 50))
        before = await memory.state()
        with pytest.raises(MemoryOversize, match=r"(?s)(?=.*\b90\b)(?=.*\b80\b)"):
            await memory.append(system("t", 40))
        assert await memory.state() == before

    async def test_pinned_and_system_messages_share_the_room_they_may_not_exceed(self, memory: Driven) -> None:
        await memory.append(system("s", 50))
        before = await memory.state()
        with pytest.raises(MemoryOversize, match=r"(?s)(?=.*\b81\b)(?=.*\b80\b)"):
            await memory.append(user("p", 31, pinned=True))
        assert await memory.state() == before
        await memory.append(user("q", 30, pinned=True))
        assert await memory.texts() == ["s", "q"]

    async def test_more_pinned_messages_than_may_be_kept_are_refused(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(max_messages=3))
        await memory.append(*(user(text, pinned=True) for text in "abc"))
        before = await memory.state()
        with pytest.raises(MemoryOversize, match=r"(?s)(?=.*\b4\b)(?=.*\b3\b)"):
            await memory.append(user("d", pinned=True))
        assert await memory.state() == before

    async def test_an_error_names_the_resource_and_never_the_key_or_the_text(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(), MemoryId("project", "travel-desk", "user:secret-key"))
        with pytest.raises(MemoryOversize) as refused:
            await memory.append(user("secret-text", 81))
        assert "travel-desk" in str(refused.value)
        assert "secret" not in str(refused.value)

    async def test_memories_with_look_alike_identities_never_meet(self, open_memory: OpenMemory) -> None:
        run = uuid.uuid4().hex
        parts = [
            ("p", "r", f"{run}"),
            ("p", "r", f"{run}:meta"),
            ("p", "r", f"{run}%3Ameta"),
            ("p", "r", f"{{{run}}}"),
            ("p", "r", f"x}}{run}"),
            ("p", "r", f"/{run}"),
            ("p", f"r/{run}", "k"),
            (f"p/r/{run}", "k", "k"),
            ("p", f"r{run}", "k"),
            (f"p{run}", "r", "k"),
            ("p", "r", f"{run}*"),
            ("p", "r", f"{run} ü"),
            ("p", "r", f"{run} u\u0308"),
        ]
        memories = [open_memory(summarising(), MemoryId(*identity)) for identity in parts]
        for number, memory in enumerate(memories):
            await memory.append(user(str(number)))
        assert [await memory.texts() for memory in memories] == [[str(number)] for number in range(len(parts))]
        await memories[0].clear()
        assert [len(await memory.texts()) for memory in memories] == [0] + [1] * (len(parts) - 1)

    async def test_concurrent_writers_lose_nothing_and_keep_their_own_order(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(max_tokens=10_000))

        async def write(writer: int) -> None:
            for number in range(20):
                await memory.append(user(f"{writer}-{number}"))

        await asyncio.gather(*(write(writer) for writer in range(8)))
        view = await memory.read()
        assert view.tokens == 8 * 20 * 10
        by_writer = [[text for text in texts_of(view) if text.startswith(f"{writer}-")] for writer in range(8)]
        assert by_writer == [[f"{writer}-{number}" for number in range(20)] for writer in range(8)]
