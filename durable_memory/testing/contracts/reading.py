"""Conformance: a read cuts by whole groups, inside every limit that it is given, and writes nothing."""

from __future__ import annotations

import asyncio

import pytest

from durable_memory.memory.errors import MemoryOversize
from durable_memory.testing.contracts.builders import call, dropping, result, summarising, system, texts_of, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven


class ReadingContract(StoreCase):
    """Views and their limits."""

    async def test_a_view_lists_system_then_summaries_then_the_conversation(self, memory: Driven) -> None:
        await memory.append(user("a"), user("b"), system("s"))
        await memory.flush(force=True)
        await memory.append(user("c"), system("t"))
        view = await memory.read()
        assert texts_of(view) == ["s", "t", "a b", "c"]
        assert [entry.section for entry in view.entries] == ["system", "system", "long_term", "short_term"]

    async def test_the_tokens_of_a_view_are_the_sum_of_what_it_shows(self, memory: Driven) -> None:
        await memory.append(user("a", 7), user("b", 5), system("s", 3))
        assert (await memory.read()).tokens == 15
        assert (await memory.read(limit=1)).tokens == 5
        assert (await memory.read(sections=("system",))).tokens == 3

    async def test_a_limit_keeps_the_newest_messages(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcde"))
        assert texts_of(await memory.read(limit=2)) == ["d", "e"]
        assert texts_of(await memory.read(limit=9)) == ["a", "b", "c", "d", "e"]

    async def test_a_limit_of_zero_is_no_message(self, memory: Driven) -> None:
        await memory.append(user("a"), system("s"))
        view = await memory.read(limit=0)
        assert (view.entries, view.tokens) == ((), 0)

    async def test_a_limit_is_a_plain_tail_of_the_view(self, memory: Driven) -> None:
        await memory.append(system("s"), user("a"), user("b"))
        assert texts_of(await memory.read(limit=2)) == ["a", "b"]

    async def test_a_limit_never_splits_a_group(self, memory: Driven) -> None:
        await memory.append(user("a"), call("c", "1", "2"), result("r1", "1"), result("r2", "2"), user("z"))
        assert texts_of(await memory.read(limit=3)) == ["z"]
        assert texts_of(await memory.read(limit=4)) == ["c", "r1", "r2", "z"]

    async def test_a_token_limit_keeps_system_then_pinned_before_the_conversation(self, memory: Driven) -> None:
        await memory.append(system("s"), user("p", pinned=True), user("a"), user("b"), user("c"))
        assert texts_of(await memory.read(max_tokens=40)) == ["s", "p", "b", "c"]
        assert texts_of(await memory.read(max_tokens=20)) == ["s", "p"]
        assert texts_of(await memory.read(max_tokens=29)) == ["s", "p"]

    async def test_a_token_limit_keeps_the_summary_before_the_conversation_if_it_fits(self, memory: Driven) -> None:
        await memory.append(system("s"), user("a"), user("b"))
        await memory.flush(force=True)
        await memory.append(user("c", 5), user("d", 5))
        assert texts_of(await memory.read(max_tokens=25)) == ["s", "a b", "d"]
        assert texts_of(await memory.read(max_tokens=19)) == ["s", "d"]

    async def test_a_token_limit_stops_at_the_first_group_that_does_not_fit(self, memory: Driven) -> None:
        await memory.append(user("a", 1), user("b", 30), user("c", 10))
        assert texts_of(await memory.read(max_tokens=20)) == ["c"]

    async def test_a_token_limit_below_system_and_pinned_is_refused_with_both_numbers(self, memory: Driven) -> None:
        await memory.append(system("s", 21), user("p", 12, pinned=True), user("a"))
        with pytest.raises(MemoryOversize, match=r"(?s)(?=.*\b33\b)(?=.*\b32\b)"):
            await memory.read(max_tokens=32)

    async def test_both_limits_hold_together(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcde"))
        assert texts_of(await memory.read(limit=3, max_tokens=20)) == ["d", "e"]
        assert texts_of(await memory.read(limit=1, max_tokens=20)) == ["e"]

    async def test_only_the_sections_asked_for_are_shown(self, memory: Driven) -> None:
        await memory.append(system("s"), user("a"))
        assert texts_of(await memory.read(sections=("system",))) == ["s"]
        assert texts_of(await memory.read(sections=("short_term", "long_term"))) == ["a"]

    async def test_ids_show_their_whole_groups_in_the_order_of_the_view(self, memory: Driven) -> None:
        a = (await memory.append(user("a"))).ids[0]
        group = (await memory.append(call("c", "1"), result("r", "1"))).ids
        await memory.append(user("b"))
        assert texts_of(await memory.read(ids=(group[1], a))) == ["a", "c", "r"]

    async def test_ids_that_are_not_live_are_left_out(self, memory: Driven) -> None:
        ids = await memory.append_each(user("a"), user("b"))
        await memory.delete(ids[0])
        assert texts_of(await memory.read(ids=(ids[0], ids[1], "nonsense"))) == ["b"]

    async def test_ids_show_no_group_that_waits_for_a_result_and_no_section_that_was_not_asked_for(
        self, memory: Driven
    ) -> None:
        ids = await memory.append_each(system("s"), call("C", "1", "2"), result("r", "1"), user("a"))
        every = tuple(ids)
        assert texts_of(await memory.read(ids=every)) == ["s", "a"]
        assert texts_of(await memory.read(ids=every, sections=("system",))) == ["s"]
        assert texts_of(await memory.read(ids=every, sections=("short_term",), max_tokens=100)) == ["a"]
        await memory.append(result("q", "2"))
        assert texts_of(await memory.read(ids=every)) == ["s", "C", "r", "q", "a"]

    async def test_messages_are_found_live_waiting_and_in_open_groups(self, memory: Driven) -> None:
        gone, live = await memory.append_each(user("gone"), user("live"))
        await memory.delete(gone)
        [asked] = (await memory.append(call("asked", "1"))).ids
        assert await memory.found(asked, "nonsense", gone, live) == ["asked", "live"]
        waiting = (await memory.append(user("evicted", 70), user("large", 75))).ids[0]
        assert "evicted" in await memory.waiting()
        assert await memory.found(waiting, asked) == ["evicted", "asked"]
        before = await memory.stats()
        await memory.found(waiting, asked)
        assert await memory.stats() == before

    async def test_nothing_is_found_in_an_absent_memory(self, memory: Driven) -> None:
        [one] = await memory.append_each(user("one"))
        await memory.clear()
        assert await memory.found(one) == []

    async def test_a_read_changes_nothing(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abc"))
        before = await memory.stats()
        await memory.read(limit=1, max_tokens=10)
        assert await memory.stats() == before

    @pytest.mark.parametrize("ids", [False, True])
    async def test_a_read_prolongs_the_lifetime_only_where_it_should(self, open_memory: OpenMemory, ids: bool) -> None:  # noqa: FBT001 - given by pytest
        memory = open_memory(summarising(ttl_ms=10_000))
        one = (await memory.append(user("a"))).ids
        first = (await memory.stats()).expires_at
        assert first is not None
        await asyncio.sleep(0.6)
        await memory.read(ids=one if ids else None)
        assert (await memory.stats()).expires_at == first
        await memory.under(summarising(ttl_ms=10_000, refresh_on_read=True)).read(ids=one if ids else None)
        prolonged = (await memory.stats()).expires_at
        assert prolonged is not None
        assert 0.1 < (prolonged - first).total_seconds() < 9
        for shorter in (500, None):
            await memory.under(summarising(ttl_ms=shorter, refresh_on_read=True)).read()
        assert (await memory.stats()).expires_at == prolonged
        endless = open_memory(summarising())
        one = (await endless.append(user("a"))).ids
        await endless.under(summarising(ttl_ms=10_000, refresh_on_read=True)).read(ids=one if ids else None)
        assert (await endless.stats()).expires_at is None

    async def test_a_lowered_budget_cuts_the_view_to_its_newest_groups(self, memory: Driven) -> None:
        ids = (await memory.append(user("a"), call("c", "1"), result("r", "1"), user("b"), user("z"))).ids
        lowered = memory.under(summarising(max_tokens=49, due_tokens=24, target_tokens=10))
        assert texts_of(await lowered.read()) == ["c", "r", "b", "z"]
        lowered = memory.under(summarising(max_tokens=39, due_tokens=24, target_tokens=10))
        view = await lowered.read()
        assert (texts_of(view), view.tokens) == (["b", "z"], 20)
        assert (view.omitted_messages, view.omitted_tokens) == (3, 30)
        assert texts_of(await lowered.read(ids=(ids[0], ids[1], ids[4]))) == ["z"]

    async def test_a_lowered_number_of_messages_cuts_the_view(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcde"))
        view = await memory.under(summarising(max_messages=2)).read()
        assert texts_of(view) == ["d", "e"]
        assert (view.omitted_messages, view.omitted_tokens) == (3, 30)

    async def test_the_next_append_under_a_lowered_budget_evicts(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcde"))
        lowered = memory.under(summarising(max_tokens=50, due_tokens=24, target_tokens=10))
        assert (await lowered.append(user("f"))).evicted == 3
        assert await lowered.texts() == ["d", "e", "f"]

    async def test_a_memory_without_a_token_budget_is_governed_by_messages_alone(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(max_tokens=None, max_messages=3, due_tokens=None, target_tokens=None))
        await memory.append(user("a", 10_000_000))
        appended = await memory.append(user("b"), user("c"), user("d"))
        assert (appended.evicted, await memory.texts()) == (1, ["b", "c", "d"])
