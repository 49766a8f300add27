"""Conformance: the flush of a memory that drops selects by the same rules and removes in one step."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from durable_memory.memory.limits import Limits, Share
from durable_memory.testing.contracts.builders import call, divided, dropping, system, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase


def _divided(*, notes_due: int) -> Limits:
    """A divided budget that drops; a flush is due at so many tokens of notes."""
    limits = divided(summarize=False, summary_tokens=0, overflow_tokens=None)
    shares = [share for share in limits.shares if share.section != "notes"]
    return replace(limits, shares=(*shares[:2], Share("notes", 40, notes_due, 10), *shares[2:]))


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

    @pytest.mark.parametrize(
        ("section", "limits", "asked", "messages"),
        [
            ("short_term", dropping(), dropping(due_tokens=50), 7),
            ("notes", _divided(notes_due=32), _divided(notes_due=16), 3),
        ],
        ids=["common", "divided"],
    )
    async def test_a_drop_by_another_threshold_begins_no_wait_by_it(
        self, open_memory: OpenMemory, section: str, limits: Limits, asked: Limits, messages: int
    ) -> None:
        memory = open_memory(limits)
        ids = (await memory.append(*(user(f"m{number}", section=section) for number in range(messages)))).ids
        assert (await memory.drop()).reason == "below_threshold"
        dropped = await memory.drop(asked=asked, most=1)
        assert (dropped.outcome, dropped.removed_ids, dropped.flush_due) == ("dropped", ids[:1], False)
        before = (await memory.stats()).last_flush_at
        await asyncio.sleep(0.01)
        assert (await memory.append(user("x", section=section), user("y", section=section))).flush_due
        since = (await memory.stats()).due_since
        assert before is not None
        assert since is not None
        assert since > before

    async def test_a_drop_by_another_threshold_begins_the_wait_by_the_declared_one(
        self, open_memory: OpenMemory
    ) -> None:
        memory = open_memory(dropping())
        await memory.append(*(user(text) for text in "abcdefghij"))
        dropped = await memory.drop(asked=dropping(due_tokens=95), most=1, op="flush")
        assert (dropped.outcome, dropped.flush_due) == ("dropped", True)
        stats = await memory.stats()
        assert stats.due_since == stats.last_flush_at
        assert (await memory.drop(asked=dropping(due_tokens=95), most=1, op="flush")).flush_due

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
