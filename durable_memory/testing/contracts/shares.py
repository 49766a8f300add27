"""Conformance: a divided budget. Each section has its share, and nothing is lent: at appends, reads and flushes."""

from __future__ import annotations

import pytest

from durable_memory.memory.errors import MemoryBackpressure, MemoryOversize
from durable_memory.testing.contracts.builders import call, divided, result, summarising, system, texts_of, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven


class SharesContract(StoreCase):
    """Fixed partitions of the budget by section."""

    @pytest.fixture
    def shared(self, open_memory: OpenMemory) -> Driven:
        """A fresh memory of system 30, long_term 50, notes 20, bookings 40, short_term 60."""
        return open_memory(divided())

    async def test_a_section_evicts_its_own_groups_and_no_others(self, shared: Driven) -> None:
        await shared.append(*(user(f"b{number}", section="bookings") for number in range(3)))
        appended = await shared.append(*(user(f"c{number}") for number in range(7)))
        assert appended.evicted == 1
        assert await shared.texts() == ["b0", "b1", "b2", "c1", "c2", "c3", "c4", "c5", "c6"]
        assert (await shared.append(user("b3", section="bookings"), user("b4", section="bookings"))).evicted == 1
        assert (await shared.texts())[:4] == ["b1", "b2", "b3", "b4"]
        await shared.check_counters()

    async def test_room_that_a_section_leaves_is_lent_to_nobody(self, shared: Driven) -> None:
        appended = await shared.append(*(user(f"c{number}") for number in range(10)))
        assert (appended.evicted, appended.tokens) == (4, 60)

    async def test_one_append_to_several_sections_holds_the_share_of_each(self, shared: Driven) -> None:
        entries = [
            user(f"{section[0]}{number}", section=section) for number in range(8) for section in ("notes", "bookings")
        ]
        appended = await shared.append(*entries, *(user(f"c{number}") for number in range(8)))
        assert appended.evicted == 6 + 4 + 2
        stats = await shared.stats()
        assert dict(stats.tokens) == {"system": 0, "long_term": 0, "notes": 20, "bookings": 40, "short_term": 60}
        assert stats.omitted.messages == 12
        await shared.check_counters()

    async def test_what_can_never_fit_its_section_is_refused_with_both_numbers_and_changes_nothing(
        self, shared: Driven
    ) -> None:
        await shared.append(user("a"), user("n", section="notes"))
        before = await shared.state()
        for entry, section, tokens, limit in (
            (user("x", 61), "short_term", 61, 60),
            (user("x", 41, section="bookings"), "bookings", 41, 40),
            (system("x", 31), "system", 31, 30),
        ):
            with pytest.raises(MemoryOversize) as refused:
                await shared.append(entry)
            assert f"has {tokens} tokens, but section {section} may fill at most {limit}" in refused.value.message
        assert await shared.state() == before

    async def test_a_group_is_held_against_the_share_of_its_section(self, shared: Driven) -> None:
        await shared.append(call("C", "1", section="notes"))
        with pytest.raises(MemoryOversize, match=r"has 21 tokens, but section notes may fill at most 20"):
            await shared.append(result("r", "1", 11))
        assert (await shared.append(result("r", "1", 10))).evicted == 0
        assert await shared.texts() == ["C", "r"]

    async def test_system_messages_have_their_share_alone(self, shared: Driven) -> None:
        await shared.append(*(user(f"c{number}") for number in range(6)), system("s", 30))
        with pytest.raises(MemoryOversize, match=r"system messages would have 31 tokens, but section system may fill"):
            await shared.append(system("t", 1))
        assert (await shared.append(user("c6"))).evicted == 1

    async def test_pinned_messages_are_held_against_their_section(self, shared: Driven) -> None:
        await shared.append(user("p", 30, section="bookings", pinned=True))
        with pytest.raises(MemoryOversize, match=r"pinned messages would have 41 tokens, but section bookings may"):
            await shared.append(user("q", 11, section="bookings", pinned=True))
        await shared.append(*(user(f"b{number}", section="bookings") for number in range(3)))
        assert await shared.texts() == ["p", "b2"]
        free = await shared.append_each(user("c", 40))
        assert await shared.pin(*free) == tuple(free)

    async def test_pinning_is_refused_where_the_share_is_too_small(self, shared: Driven) -> None:
        ids = await shared.append_each(user("p", 15, section="notes"), user("b", 40, section="bookings"))
        await shared.pin(*ids)
        with pytest.raises(MemoryOversize, match="section notes may fill at most 20"):
            await shared.append(user("q", 6, section="notes", pinned=True))
        small = shared.under(divided(shares={**_PARTS, "notes": 10, "short_term": 70}))
        await small.unpin(*ids)
        with pytest.raises(MemoryOversize, match="would have 15 tokens, but section notes may fill at most 10"):
            await small.pin(ids[0])

    async def test_a_limit_of_messages_is_common_to_all_sections(self, open_memory: OpenMemory) -> None:
        memory = open_memory(divided(max_messages=6, due_messages=5, target_messages=2))
        await memory.append(
            user("b", section="bookings"), user("n", section="notes"), system("s"), user("c0"), user("c1")
        )
        appended = await memory.append(user("c2"), user("c3"))
        assert appended.evicted == 2
        assert await memory.texts() == ["s", "c0", "c1", "c2", "c3"]
        assert sorted(await memory.waiting()) == ["b", "n"]

    async def test_a_limit_of_messages_takes_the_oldest_of_all_sections_one_by_one(
        self, open_memory: OpenMemory
    ) -> None:
        memory = open_memory(divided(max_messages=6, due_messages=None, target_messages=2))
        await memory.append(
            user("b0", section="bookings"), user("c0"), user("c1"), user("n0", 4, section="notes"), user("c2")
        )
        for number in (1, 2, 3):
            assert (await memory.append(user(f"n{number}", 4, section="notes"))).evicted == 1
        assert await memory.texts() == ["n0", "n1", "n2", "n3", "c2"]
        assert await memory.waiting() == ["b0", "c0", "c1"]
        await memory.check_counters()

    async def test_a_lowered_share_cuts_the_view_of_its_section_only(self, shared: Driven) -> None:
        await shared.append(*(user(f"b{number}", section="bookings") for number in range(4)))
        await shared.append(system("s", 30), *(user(f"c{number}") for number in range(6)))
        lowered = shared.under(divided(shares={**_PARTS, "bookings": 20, "short_term": 80}))
        view = await lowered.read()
        assert texts_of(view) == ["s", "b2", "b3", "c0", "c1", "c2", "c3", "c4", "c5"]
        assert (view.omitted_messages, view.omitted_tokens) == (2, 20)
        assert texts_of(await lowered.read(sections=("bookings",))) == ["b2", "b3"]
        assert texts_of(await lowered.read(limit=7)) == ["b3", "c0", "c1", "c2", "c3", "c4", "c5"]
        appended = await lowered.append(user("b4", section="bookings"))
        assert (appended.evicted, (await lowered.texts())[1:3]) == (3, ["b3", "b4"])
        await lowered.check_counters()

    async def test_a_lowered_share_of_summaries_or_of_system_messages_cuts_them_alone(self, shared: Driven) -> None:
        await shared.append(system("s0", 15), system("s1", 15))
        for number in range(2):
            await shared.append(user(f"m{number}"))
            await self._flush_with(shared, tokens=20, round_=number)
        await shared.append(user("c"), user("n", section="notes"))
        assert await shared.texts() == ["s0", "s1", "m0", "m1", "n", "c"]
        fewer = await shared.under(divided(shares={**_PARTS, "long_term": 30})).read()
        assert texts_of(fewer) == ["s0", "s1", "m1", "n", "c"]
        assert (fewer.omitted_messages, fewer.omitted_tokens) == (1, 20)
        fewer = await shared.under(divided(shares={**_PARTS, "system": 20})).read()
        assert texts_of(fewer) == ["s1", "m0", "m1", "n", "c"]
        assert (fewer.omitted_messages, fewer.omitted_tokens) == (1, 15)

    async def test_a_budget_that_becomes_divided_cuts_and_one_that_becomes_common_shows_all(
        self, open_memory: OpenMemory
    ) -> None:
        memory = open_memory(summarising(max_tokens=200, due_tokens=150, target_tokens=80))
        await memory.append(*(user(f"c{number}") for number in range(9)))
        parted = memory.under(divided())
        assert await parted.texts() == [f"c{number}" for number in range(3, 9)]
        assert await memory.texts() == [f"c{number}" for number in range(9)]

    async def test_a_share_below_what_is_pinned_refuses_its_section_and_no_other(self, shared: Driven) -> None:
        await shared.append(user("p", 40, section="bookings", pinned=True))
        lowered = shared.under(divided(shares={**_PARTS, "bookings": 20, "short_term": 80}))
        with pytest.raises(
            MemoryOversize, match=r"pinned messages would have 40 tokens, but section bookings may fill"
        ):
            await lowered.append(user("b", section="bookings"))
        assert (await lowered.append(user("c"))).evicted == 0

    async def test_a_budget_below_what_is_pinned_refuses_ordinary_messages(self, memory: Driven) -> None:
        await memory.append(system("s", 30), user("p", 30, pinned=True))
        lowered = memory.under(summarising(max_tokens=70, due_tokens=40, target_tokens=20))
        before = await lowered.state()
        with pytest.raises(MemoryOversize, match=r"system and pinned messages would have 60 tokens, but messages may"):
            await lowered.append(user("c"))
        assert await lowered.state() == before
        assert (await memory.append(user("c"))).evicted == 0

    async def test_each_section_is_flushed_at_its_own_threshold_down_to_its_own_target(self, shared: Driven) -> None:
        await shared.append(*(user(f"b{number}", section="bookings") for number in range(3)))
        assert not (await shared.append(*(user(f"c{number}") for number in range(4)))).flush_due
        assert (await shared.append(user("c4"))).flush_due
        batch = await shared.batch()
        assert await shared.content_texts(batch) == ["c0", "c1"]
        await shared.summarise(batch)
        committed = await shared.commit(batch)
        assert (committed.outcome, committed.flush_due) == ("committed", False)
        assert (await shared.texts())[1:] == ["b0", "b1", "b2", "c2", "c3", "c4"]
        assert (await shared.append(user("b3", section="bookings"))).flush_due
        assert await shared.content_texts(await shared.batch("flusher/2")) == ["b0", "b1"]

    async def test_a_flush_stays_due_for_one_section_whichever_the_next_message_comes_to(self, shared: Driven) -> None:
        await shared.append(user("n0", 1, section="notes"), user("b0", 1, section="bookings"), user("c0", 1))
        assert (await shared.append(user("n1", 15, section="notes"))).flush_due
        assert (await shared.append(user("b1", section="bookings"))).flush_due
        assert (await shared.append(user("c1"))).flush_due
        assert (await shared.read()).flush_due

    async def test_keep_is_counted_in_groups_of_short_term(self, open_memory: OpenMemory) -> None:
        memory = open_memory(divided(keep_first=1, keep_last=2))
        await memory.append(user("c0"), user("b0", section="bookings"), *(user(f"c{number}") for number in range(1, 5)))
        await memory.append(user("b1", section="bookings"))
        assert await memory.content_texts(await memory.batch(force=True)) == ["b0", "c1", "c2", "b1"]

    async def test_nothing_is_flushed_below_every_threshold(self, shared: Driven) -> None:
        await shared.append(user("b", 30, section="bookings"), user("c", 40), user("n", 15, section="notes"))
        assert (await shared.refused_begin()).reason == "below_threshold"

    async def test_pins_that_fill_a_section_block_its_flush_by_name(self, shared: Driven) -> None:
        appended = await shared.append(user("p", 35, section="bookings", pinned=True), user("c"))
        assert appended.flush_due
        assert (await shared.refused_begin()).reason == "pinned"
        assert (await shared.stats()).flush_blocked == "pinned"

    async def test_summaries_stand_beside_each_other_until_their_share_is_full(self, shared: Driven) -> None:
        for number in range(6):
            await shared.append(*(user(f"m{number}{one}") for one in range(3)))
            await self._flush_with(shared, tokens=18, round_=number)
            assert (await shared.stats()).tokens["long_term"] <= 50
        stats = await shared.stats()
        assert (stats.messages["long_term"], stats.tokens["long_term"]) == (2, 36)
        covered = " ".join(texts_of(await shared.read(sections=("long_term",)))).split()
        assert covered == [f"m{number}{one}" for number in range(6) for one in range(3)]

    async def test_with_a_limit_of_messages_there_is_one_summary(self, open_memory: OpenMemory) -> None:
        memory = open_memory(divided(max_messages=50, due_messages=40, target_messages=20))
        for number in range(3):
            await memory.append(user(f"m{number}"))
            await self._flush_with(memory, tokens=10, round_=number)
        assert (await memory.stats()).messages["long_term"] == 1

    async def test_a_full_overflow_holds_back_every_section(self, open_memory: OpenMemory) -> None:
        memory = open_memory(divided(overflow_tokens=30))
        await memory.append(*(user(f"c{number}") for number in range(9)))
        await memory.append(*(user(f"b{number}", section="bookings") for number in range(4)))
        with pytest.raises(MemoryBackpressure):
            await memory.append(user("b4", section="bookings"))

    @staticmethod
    async def _flush_with(memory: Driven, *, tokens: int, round_: int) -> None:
        batch = await memory.batch(f"flusher/{round_}", force=True)
        await memory.summarise(batch, tokens=tokens)
        assert (await memory.commit(batch)).outcome == "committed"


_PARTS = {"system": 30, "long_term": 50, "notes": 20, "bookings": 40, "short_term": 60}
