"""Conformance: user-defined sections, in views, groups and policies, and when a declaration drops or renames them."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from durable_memory.memory.errors import MemoryInvalid, MemoryOperationExpired
from durable_memory.memory.limits import Limits, PolicyName
from durable_memory.memory.stores.values import ABSENT
from durable_memory.testing.contracts.builders import (
    AFTER_TTL_SECONDS,
    TTL_MS,
    call,
    divided,
    dropping,
    result,
    summarising,
    summary,
    system,
    text_of,
    texts_of,
    user,
)
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven

_WITHOUT_NOTES = {"system": 30, "long_term": 50, "bookings": 40, "short_term": 80}


class SectionsContract(StoreCase):
    """Sections that a resource declares beside the built-in ones."""

    @pytest.fixture
    def shared(self, open_memory: OpenMemory) -> Driven:
        """A fresh memory of system 30, long_term 50, notes 20, bookings 40, short_term 60."""
        return open_memory(divided())

    async def test_a_view_goes_by_sections_as_declared_and_inside_by_number(self, shared: Driven) -> None:
        await shared.append(user("c0"), user("b0", section="bookings"), system("s"), user("n0", section="notes"))
        await shared.append(user("b1", section="bookings"), user("c1"))
        view = await shared.read()
        assert texts_of(view) == ["s", "n0", "b0", "b1", "c0", "c1"]
        assert [entry.section for entry in view.entries] == [
            "system",
            "notes",
            "bookings",
            "bookings",
            "short_term",
            "short_term",
        ]
        assert texts_of(await shared.read(limit=3)) == ["b1", "c0", "c1"]
        assert texts_of(await shared.read(sections=("bookings", "system"))) == ["s", "b0", "b1"]
        # For a model call: system first, then the newest of the conversation, whatever its section.
        assert texts_of(await shared.read(max_tokens=30)) == ["s", "b1", "c1"]
        await shared.check_counters()

    async def test_an_undeclared_section_is_refused_by_name_and_changes_nothing(self, shared: Driven) -> None:
        before = await shared.state()
        with pytest.raises(MemoryInvalid, match=r"messages\[1\] is for section 'booking', .* did you mean 'bookings'"):
            await shared.append(user("a"), user("b", section="booking"))
        with pytest.raises(MemoryInvalid, match="which only a flush writes"):
            await shared.append(summary("s"))
        assert await shared.state() == before

    async def test_a_write_names_the_undeclared_section_also_where_its_version_is_old(self, shared: Driven) -> None:
        await shared.append(user("a"))
        before = await shared.state()
        with pytest.raises(MemoryInvalid, match=r"messages\[0\] is for section 'booking'"):
            await shared.write(user("a", section="booking"), if_version=ABSENT)
        assert await shared.state() == before

    async def test_a_passed_deadline_is_told_before_an_undeclared_section(self, shared: Driven) -> None:
        late, misplaced = replace(shared, patience_ms=-1), user("a", section="booking")
        for expired in (late.append(misplaced), late.try_append(misplaced), late.write(misplaced)):
            with pytest.raises(MemoryOperationExpired):
                await expired

    async def test_results_stand_with_their_call(self, shared: Driven) -> None:
        await shared.append(user("c"), call("C", "1", "2", section="bookings"))
        await shared.append(result("r1", "1", 5), user("d"))
        assert await shared.texts() == ["c", "d"]
        await shared.append(result("r2", "2", 5))
        view = await shared.read()
        assert texts_of(view) == ["C", "r1", "r2", "c", "d"]
        assert [entry.section for entry in view.entries[:3]] == ["bookings"] * 3
        assert (await shared.stats()).tokens["bookings"] == 20

    async def test_a_late_result_follows_its_group_out_of_its_section(self, shared: Driven) -> None:
        await shared.append(call("C", "1", section="notes"))
        await shared.append(user("n", 20, section="notes", pinned=True))
        appended = await shared.append(result("r", "1"))
        assert appended.late == 1
        assert sorted(await shared.waiting()) == ["C", "r"]

    async def test_results_that_join_after_begin_follow_the_batch(self, shared: Driven) -> None:
        memory = shared.under(divided(open_group_ms=1))
        await memory.append(call("C", "1", section="bookings", tokens=35), user("c"))
        await _until_abandoned()
        batch = await memory.batch(force=True)
        await memory.append(result("r", "1", 5))
        await memory.summarise(batch)
        assert (await memory.commit(batch)).outcome == "committed"
        assert await memory.waiting() == ["r"]
        await memory.check_counters()

    async def test_delete_touch_pin_and_read_by_id_find_messages_of_any_section(self, shared: Driven) -> None:
        ids = await shared.append_each(user("c"), user("b0", section="bookings"), user("b1", section="bookings"))
        assert await shared.touch(*ids) == tuple(ids)
        assert await shared.pin(ids[1]) == (ids[1],)
        assert texts_of(await shared.read(ids=(ids[2], ids[0]))) == ["b1", "c"]
        assert await shared.found(ids[1]) == ["b0"]
        assert (await shared.delete(ids[1])).removed == (ids[1],)
        assert await shared.texts() == ["b1", "c"]
        stats = await shared.stats()
        assert (stats.tokens["bookings"], stats.messages["bookings"]) == (10, 1)
        await shared.check_counters()

    async def test_a_write_and_a_clear_empty_every_section(self, shared: Driven) -> None:
        await shared.append(user("b", section="bookings"), user("n", section="notes"), user("c"))
        written = await shared.write(user("x", section="notes"))
        assert (written.removed, await shared.texts()) == (3, ["x"])
        await shared.check_counters()
        assert (await shared.clear()).cleared == 1
        await shared.append(user("y", section="bookings"))
        assert await shared.texts() == ["y"]
        await shared.check_counters()

    @pytest.mark.parametrize("policy", ["fifo", "lru", "lfu", "priority", "token_aware_lru"])
    async def test_every_policy_orders_each_section_by_itself(
        self, open_memory: OpenMemory, policy: PolicyName
    ) -> None:
        memory = open_memory(divided(policy=policy))
        ids = await memory.append_each(*(user(f"b{number}", section="bookings") for number in range(4)))
        await memory.append(*(user(f"c{number}") for number in range(6)))
        await memory.touch(ids[0])
        await memory.append(user("b4", section="bookings"))
        await memory.append(user("c6"))
        accessed = policy in {"lru", "lfu", "token_aware_lru"}
        bookings = ["b0", "b2", "b3", "b4"] if accessed else ["b1", "b2", "b3", "b4"]
        assert await memory.texts() == [*bookings, *(f"c{number}" for number in range(1, 7))]
        await memory.check_counters()

    async def test_a_change_of_policy_keeps_the_order_of_every_section(self, shared: Driven) -> None:
        ids = await shared.append_each(
            *(user(f"b{number}", section="bookings") for number in range(4)),
            *(user(f"c{number}") for number in range(6)),
        )
        lru = shared.under(divided(policy="lru"))
        await lru.touch(ids[0])
        await lru.append(user("b4", section="bookings"), user("c6"))
        assert await lru.texts() == ["b0", "b2", "b3", "b4", *(f"c{number}" for number in range(1, 7))]
        await shared.append(user("b5", section="bookings"))
        assert (await shared.texts())[:4] == ["b2", "b3", "b4", "b5"]

    @pytest.mark.parametrize("count", [1, 2, 1000])
    async def test_a_scan_shows_every_section_by_age(self, shared: Driven, count: int) -> None:
        await shared.append(user("c0"), call("C", "1", section="bookings"), user("n0", section="notes"), system("s"))
        await shared.append(user("c1"), result("r", "1"), user("n1", 20, section="notes"))
        seen, cursor = [], "r:0"
        while cursor:
            page = await shared.store.scan(shared.memory, cursor, count)
            seen += [(entry.section, text_of(entry), waits) for entry, waits in page.entries]
            cursor = page.cursor or ""
        assert seen == [
            ("short_term", "c0", False),
            ("bookings", "C", False),
            ("bookings", "r", False),
            ("notes", "n0", True),
            ("system", "s", False),
            ("short_term", "c1", False),
            ("notes", "n1", False),
        ]

    async def test_a_section_that_is_no_longer_declared_counts_as_short_term(self, shared: Driven) -> None:
        ids = await shared.append_each(user("n0", section="notes"), user("c0"), user("n1", section="notes"), user("c1"))
        dropped = shared.under(divided(shares=_WITHOUT_NOTES))
        view = await dropped.read()
        assert texts_of(view) == ["n0", "c0", "n1", "c1"]
        assert {entry.section for entry in view.entries} == {"short_term"}
        assert dict((await dropped.stats()).tokens) == {"system": 0, "long_term": 0, "bookings": 0, "short_term": 40}
        assert texts_of(await dropped.read(sections=("short_term",), limit=3)) == ["c0", "n1", "c1"]
        assert texts_of(await dropped.read(ids=(ids[0],))) == ["n0"]
        with pytest.raises(MemoryInvalid, match="'notes'"):
            await dropped.append(user("n2", section="notes"))
        # Nothing was moved, so the section is there again once it is declared again.
        assert await shared.texts() == ["n0", "n1", "c0", "c1"]

    async def test_messages_of_an_undeclared_section_are_evicted_and_flushed_in_turn(self, shared: Driven) -> None:
        await shared.append(user("n0", section="notes"), user("c0"), user("n1", section="notes"), user("c1"))
        dropped = shared.under(divided(shares=_WITHOUT_NOTES))
        appended = await dropped.append(*(user(f"c{number}") for number in range(2, 7)))
        assert (appended.evicted, (await dropped.texts())[:2]) == (1, ["c0", "n1"])
        await dropped.check_counters()
        batch = await dropped.batch()
        assert await dropped.content_texts(batch) == ["n0", "c0", "n1", "c1", "c2"]
        await dropped.summarise(batch)
        assert (await dropped.commit(batch)).outcome == "committed"
        assert (await dropped.texts())[1:] == ["c3", "c4", "c5", "c6"]
        await dropped.check_counters()

    @pytest.mark.parametrize("limits", [summarising(max_tokens=200, due_tokens=150), dropping(max_tokens=180)])
    async def test_a_memory_whose_budget_is_no_longer_divided_goes_on(self, shared: Driven, limits: Limits) -> None:
        await shared.append(user("n0", section="notes"), system("s"), user("b0", section="bookings"), user("c0"))
        common = shared.under(limits)
        ids = await common.append_each(user("c1"), call("C", "1"), result("r", "1"))
        assert await common.texts() == ["s", "n0", "b0", "c0", "c1", "C", "r"]
        await common.touch(*ids)
        await common.pin(ids[0])
        assert dict((await common.stats()).messages) == {"system": 1, "long_term": 0, "short_term": 6}
        assert (await common.append(*(user(f"d{number}") for number in range(13)))).evicted == 2
        assert (await common.texts())[1] == "c0"

    async def test_a_clear_by_who_knows_no_section_leaves_nothing(
        self, shared: Driven, open_memory: OpenMemory
    ) -> None:
        await shared.append(user("n0", section="notes"), user("b0", section="bookings"))
        stranger = open_memory(summarising(), shared.memory)
        assert (await stranger.clear()).cleared == 2
        await shared.append(user("n1", section="notes"))
        assert await shared.texts() == ["n1"]
        await shared.check_counters()

    async def test_a_backup_brings_every_section_back_whoever_made_it(self, shared: Driven) -> None:
        await shared.append(user("n0", section="notes"), user("b0", section="bookings", pinned=True), user("c0"))
        cleared = await shared.under(summarising()).clear(backup=True)
        await shared.append(user("x", section="bookings"))
        await shared.under(summarising()).restore(cleared.backup_id)
        assert await shared.texts() == ["n0", "b0", "c0"]
        assert dict((await shared.stats()).messages)["bookings"] == 1
        await shared.append(user("b1", section="bookings"))
        await shared.check_counters()

    async def test_sections_end_with_their_memory(self, open_memory: OpenMemory) -> None:
        memory = open_memory(divided(ttl_ms=TTL_MS))
        await memory.append(user("n0", section="notes"), user("c0"))
        await asyncio.sleep(AFTER_TTL_SECONDS)
        assert await memory.texts() == []
        await memory.append(user("b0", section="bookings"))
        assert await memory.texts() == ["b0"]
        await memory.check_counters()


async def _until_abandoned() -> None:
    await asyncio.sleep(0.01)
