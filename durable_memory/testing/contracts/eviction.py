"""Conformance: what goes first, what never goes, where it goes, and when an append has to wait."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from durable_memory.memory.errors import MemoryBackpressure, MemoryOversize
from durable_memory.testing.contracts.builders import call, dropping, result, summarising, system, texts_of, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven

Access = Callable[[Driven, str], Awaitable[object]]

ACCESSES: dict[str, Access] = {
    "read": lambda memory, message_id: memory.read(ids=(message_id,)),
    "touch": lambda memory, message_id: memory.touch(message_id),
}


class EvictionContract(StoreCase):
    """The budget at an append."""

    async def test_the_oldest_go_first_under_fifo(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefgh"))
        appended = await memory.append(user("i"), user("j"))
        assert (appended.evicted, appended.tokens, appended.messages) == (2, 80, 8)
        assert await memory.texts() == list("cdefghij")

    async def test_what_is_evicted_waits_and_is_counted(self, memory: Driven) -> None:
        await memory.append(*(user(text, 9) for text in "abcdefgh"))
        await memory.append(user("i", 9))
        view, stats = await memory.state()
        assert (view.omitted_messages, view.omitted_tokens) == (1, 9)
        assert (stats.omitted.messages, stats.omitted.tokens) == (1, 9)
        assert await memory.waiting() == ["a"]

    async def test_no_more_is_evicted_than_the_budget_needs(self, memory: Driven) -> None:
        await memory.append(user("a", 30), user("b", 20), user("c", 30))
        assert (await memory.append(user("d", 25))).evicted == 1
        assert await memory.texts() == ["b", "c", "d"]

    async def test_a_batch_larger_than_the_budget_pushes_out_its_own_first_messages(self, memory: Driven) -> None:
        appended = await memory.append(*(user(str(number)) for number in range(12)))
        assert (appended.evicted, appended.messages) == (4, 8)
        assert await memory.texts() == [str(number) for number in range(4, 12)]
        assert await memory.waiting() == ["0", "1", "2", "3"]

    async def test_the_number_of_messages_is_a_budget_too(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(max_messages=4))
        appended = await memory.append(*(user(text, 1) for text in "abcde"))
        assert (appended.evicted, await memory.texts()) == (2, ["c", "d", "e"])

    async def test_system_and_pinned_messages_never_go(self, memory: Driven) -> None:
        await memory.append(user("p", pinned=True), system("s"), *(user(text) for text in "abcdef"))
        await memory.append(*(user(text) for text in "ghijkl"))
        assert await memory.texts() == ["s", "p", *"ghijkl"]

    @pytest.mark.parametrize("access", ACCESSES)
    async def test_an_access_saves_a_message_under_lru(self, open_memory: OpenMemory, access: str) -> None:
        memory = open_memory(summarising(policy="lru"))
        ids = (await memory.append(*(user(text) for text in "abcdefgh"))).ids
        await ACCESSES[access](memory, ids[0])
        await memory.append(user("i"), user("j"))
        assert await memory.texts() == ["a", *"defghij"]

    @pytest.mark.parametrize("policy", ["fifo", "lru"])
    async def test_pinned_messages_alone_leave_room_for_one_more(self, open_memory: OpenMemory, policy: str) -> None:
        memory = open_memory(summarising(policy=policy))
        await memory.append(*(user(text, pinned=True) for text in "abcdefg"))
        for text in "hi":
            await memory.append(user(text))
        assert await memory.texts() == list("abcdefgi")
        appended = await memory.append(user("large", 11))
        assert (appended.evicted, await memory.texts()) == (2, list("abcdefg"))
        assert await memory.waiting() == ["h", "i", "large"]
        assert (await memory.append(user("k", 11))).evicted == 1

    async def test_an_access_changes_nothing_under_fifo(self, memory: Driven) -> None:
        ids = (await memory.append(*(user(text) for text in "abcdefgh"))).ids
        await memory.touch(ids[0])
        await memory.append(user("i"))
        assert await memory.texts() == list("bcdefghi")

    async def test_a_plain_read_is_no_access(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(policy="lru"))
        await memory.append(*(user(text) for text in "abcdefgh"))
        await memory.read()
        await memory.read(limit=8)
        await memory.append(user("i"))
        assert await memory.texts() == list("bcdefghi")

    async def test_a_read_by_ids_may_be_no_access(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(policy="lru"))
        ids = (await memory.append(*(user(text) for text in "abcdefgh"))).ids
        assert texts_of(await memory.read(ids=ids[:2], is_access=False)) == ["a", "b"]
        await memory.append(user("i"))
        assert await memory.texts() == list("bcdefghi")

    async def test_a_result_that_joins_its_group_is_an_access_to_it(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(policy="lru"))
        await memory.append(call("C", "1"), *(user(text) for text in "abcdef"))
        await memory.append(result("r", "1"))
        await memory.append(user("g"))
        assert await memory.texts() == ["C", "r", *"bcdefg"]

    async def test_an_access_to_a_member_saves_the_whole_group(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(policy="lru"))
        ids = (await memory.append(call("C", "1"), result("r", "1"), *(user(text) for text in "abcdef"))).ids
        await memory.touch(ids[1])
        await memory.append(user("g"), user("h"))
        assert await memory.texts() == ["C", "r", *"cdefgh"]

    async def test_touch_answers_the_ids_that_are_live(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(policy="lru"))
        assert await memory.touch("nonsense") == ()
        ids = (await memory.append(*(user(text) for text in "abcdefgh"))).ids
        await memory.append(user("i"))
        assert await memory.touch(ids[0], ids[1], "nonsense") == (ids[1],)

    async def test_an_access_changes_no_version(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(policy="lru"))
        appended = await memory.append(user("a"))
        await memory.touch(appended.ids[0])
        assert (await memory.read(ids=appended.ids)).version == appended.version

    async def test_a_full_overflow_refuses_for_now_and_passes_after_a_flush(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(overflow_tokens=200))
        await memory.append(*(user(str(number)) for number in range(28)))
        before = await memory.state()
        with pytest.raises(MemoryBackpressure) as refused:
            await memory.append(user("one more"))
        assert refused.value.retry_after_ms == 2000
        assert await memory.state() == before
        assert (await memory.stats()).flush_due is True
        await memory.flush()
        await memory.append(user("one more"))
        assert (await memory.texts())[-1] == "one more"

    async def test_an_overflow_full_of_messages_refuses_too(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(max_messages=3, overflow_messages=6))
        await memory.append(*(user(str(number), 1) for number in range(8)))
        before = await memory.state()
        with pytest.raises(MemoryBackpressure):
            await memory.append(user("one more", 1))
        assert await memory.state() == before

    async def test_a_batch_that_would_not_fit_an_empty_overflow_is_refused_for_good(self, memory: Driven) -> None:
        await memory.append(user("a"))
        before = await memory.state()
        with pytest.raises(MemoryOversize, match="parts"):
            await memory.append(*(user(str(number)) for number in range(49)))
        assert await memory.state() == before

    async def test_a_memory_that_drops_removes_what_it_evicts(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping())
        await memory.append(*(user(text) for text in "abcdefghij"))
        appended = await memory.append(user("k"))
        view = await memory.read()
        assert (appended.evicted, appended.tokens, appended.messages) == (1, 100, 10)
        assert (texts_of(view), view.omitted_messages, view.omitted_tokens) == (list("bcdefghijk"), 0, 0)

    async def test_a_memory_that_drops_takes_a_batch_of_any_size(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping())
        appended = await memory.append(*(user(str(number)) for number in range(300)))
        assert (appended.evicted, len(appended.ids), appended.messages) == (290, 300, 10)

    async def test_counters_are_a_recount_after_evictions(self, memory: Driven) -> None:
        await memory.append(system("s", 3), user("p", 4, pinned=True))
        for number in range(30):
            await memory.append(user(str(number), number % 7 + 1))
        await memory.check_counters()
