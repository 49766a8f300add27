"""Conformance: a declaration that changed under a memory blocks neither its appends nor its flushes."""

from __future__ import annotations

import pytest

from durable_memory.memory.errors import MemoryBackpressure, MemoryOversize
from durable_memory.memory.limits import Limits
from durable_memory.testing.contracts.builders import (
    call,
    divided,
    dropping,
    result,
    summarising,
    system,
    texts_of,
    user,
)
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven

_LARGE = summarising(max_tokens=1000, summary_tokens=100, overflow_tokens=4000, due_tokens=720, target_tokens=450)
_SMALL = summarising(max_tokens=50, summary_tokens=8, overflow_tokens=100, due_tokens=34, target_tokens=20)
_PARTS = {"system": 30, "long_term": 90, "bookings": 20, "short_term": 60}


async def _summarised(memory: Driven, *tokens: int) -> None:
    """Leaves summaries `s0`, `s1`, … of so many tokens, if they may stand beside each other."""
    for number, size in enumerate(tokens):
        await memory.append(user(f"s{number}"))
        batch = await memory.batch(f"flusher/s{number}", force=True)
        await memory.summarise(batch, tokens=size)
        await memory.commit(batch)


class LoweringContract(StoreCase):
    """Budgets that were lowered, divided, made common; memories that drop from now on."""

    @pytest.mark.parametrize("force", [False, True])
    async def test_a_summary_above_a_lowered_budget_is_summarised_anew_alone(
        self, open_memory: OpenMemory, *, force: bool
    ) -> None:
        large = open_memory(_LARGE)
        await _summarised(large, 90)
        small = large.under(_SMALL)
        assert ((await small.read()).omitted_tokens, (await small.stats()).flush_due) == (90, True)
        appended = await small.append(user("hello"))
        assert (appended.evicted, appended.flush_due) == (0, True)
        await small.append(user("again"))
        assert (await small.read()).flush_due
        plan = await small.plan()
        assert (plan.outcome, plan.removed_ids, plan.tokens_after) == ("planned", (), 28)
        batch = await small.batch(force=force)
        assert batch.summary_max == 8
        assert (await small.content_texts(batch))[0] == "s0"
        await small.summarise(batch, tokens=8)
        committed = await small.commit(batch)
        assert (committed.outcome, committed.flush_due) == ("committed", False)
        assert ((await small.stats()).tokens["long_term"], (await small.read()).omitted_tokens) == (8, 0)
        assert (await small.refused_begin("flusher/2")).reason == "below_threshold"
        await small.check_counters()

    async def test_a_flush_of_summaries_alone_takes_no_message(self, open_memory: OpenMemory) -> None:
        large = open_memory(_LARGE)
        await _summarised(large, 90)
        small = large.under(_SMALL)
        await small.append(user("hello"))
        batch = await small.batch(most=1)
        assert (batch.messages, batch.tokens, await small.content_texts(batch)) == (0, 0, ["s0"])
        await small.summarise(batch, tokens=5)
        committed = await small.commit(batch)
        assert (committed.removed_ids, committed.tokens_before, committed.tokens_after) == ((), 100, 15)
        assert (committed.messages_before, committed.messages_after) == (2, 2)
        assert await small.texts() == ["s0", "hello"]

    async def test_a_budget_that_is_raised_again_shows_what_was_not_summarised_anew(
        self, open_memory: OpenMemory
    ) -> None:
        large = open_memory(_LARGE)
        await _summarised(large, 90)
        await large.under(_SMALL).append(user("hello"))
        assert (await large.texts(), (await large.stats()).flush_due) == (["s0", "hello"], False)

    @pytest.mark.parametrize(
        "limits",
        [
            summarising(),
            divided(max_messages=50),
            divided(shares={**_PARTS, "long_term": 50}),
            summarising(max_messages=4, due_messages=3, target_messages=2),
            summarising(max_tokens=None, due_tokens=None, target_tokens=None, max_messages=4),
        ],
        ids=["common", "one at a time", "lower share", "fewer messages", "messages alone"],
    )
    async def test_summaries_that_stood_beside_each_other_become_one_where_they_may_no_longer(
        self, open_memory: OpenMemory, limits: Limits
    ) -> None:
        memory = open_memory(divided(shares=_PARTS))
        await _summarised(memory, 20, 20, 20, 20)
        assert (await memory.stats()).messages["long_term"] == 4
        changed = memory.under(limits)
        assert (await changed.append(user("c"))).flush_due
        batch = await changed.batch()
        assert (await changed.content_texts(batch))[:4] == ["s0", "s1", "s2", "s3"]
        await changed.summarise(batch)
        assert (await changed.commit(batch)).flush_due is False
        assert (await changed.stats()).messages["long_term"] == 1

    async def test_where_a_memory_drops_the_oldest_summaries_yield_to_what_is_appended(
        self, open_memory: OpenMemory
    ) -> None:
        memory = open_memory(divided(shares=_PARTS))
        await _summarised(memory, 20, 20, 20, 20)
        drops = memory.under(dropping())
        assert (await drops.append(user("a", 20))).evicted == 0
        assert await drops.texts() == ["s0", "s1", "s2", "s3", "a"]
        appended = await drops.append(user("b", 30))
        assert (appended.evicted, appended.flush_due) == (2, False)
        assert await drops.texts() == ["s1", "s2", "s3", "b"]
        await drops.append(system("s", 40), call("C", "1"))
        await drops.append(result("r", "1", 20))
        assert await drops.texts() == ["s", "s3", "C", "r"]
        await drops.check_counters()

    async def test_where_a_memory_drops_a_flush_drops_the_summaries_that_do_not_fit(
        self, open_memory: OpenMemory
    ) -> None:
        memory = open_memory(divided(shares=_PARTS))
        await memory.append(user("p", 5, pinned=True))
        await _summarised(memory, 20, 20, 20, 20)
        drops = memory.under(dropping(max_tokens=50, due_tokens=40, target_tokens=20))
        oldest = [entry.id for entry in (await memory.read(sections=("long_term",))).entries[:2]]
        assert (await drops.stats()).flush_due
        plan, dropped = await drops.plan(), await drops.drop()
        assert plan.removed_ids == dropped.removed_ids == tuple(oldest)
        assert (plan.outcome, dropped.outcome, dropped.flush_due) == ("planned", "dropped", False)
        assert (plan.tokens_after, plan.messages_after) == (dropped.tokens_after, dropped.messages_after) == (45, 3)
        assert await drops.texts() == ["s2", "s3", "p"]
        await drops.check_counters()

    async def test_where_shares_are_dropped_summaries_have_none(self, open_memory: OpenMemory) -> None:
        memory = open_memory(divided(shares=_PARTS))
        await _summarised(memory, 20, 20)
        drops = memory.under(
            divided(summarize=False, summary_tokens=0, shares={"system": 40, "long_term": 0, "short_term": 160})
        )
        assert (await drops.append(user("a"))).evicted == 2
        assert await memory.texts() == ["a"]

    async def test_a_summary_that_is_dropped_ends_the_flush_that_holds_it(self, open_memory: OpenMemory) -> None:
        memory = open_memory(divided(shares=_PARTS))
        await _summarised(memory, 20, 20, 20, 20)
        await memory.append(user("a"))
        batch = await memory.batch("flusher/last", force=True)
        await memory.under(dropping(max_tokens=50)).append(user("b", 30))
        assert (await memory.commit(batch)).outcome == "stale"

    @pytest.mark.parametrize("keep_last", [0, 60])
    async def test_what_a_lowered_budget_pushes_out_is_not_held_against_an_append(
        self, open_memory: OpenMemory, keep_last: int
    ) -> None:
        large = open_memory(_LARGE)
        await large.append(*(user(f"m{number}") for number in range(60)))
        small = large.under(summarising(**_numbers(_SMALL), keep_last=keep_last))
        appended = await small.append(user("hello"))
        assert (appended.evicted, appended.flush_due) == (57, True)
        assert await small.texts() == ["m57", "m58", "m59", "hello"]
        with pytest.raises(MemoryBackpressure, match="570 tokens wait to be summarised and 10 would join them"):
            await small.append(user("more"))
        with pytest.raises(MemoryOversize, match="would push 110 tokens into the overflow, which takes 100"):
            await small.append(*(user(f"n{number}") for number in range(11)))
        await small.flush()
        await small.append(user("more"))
        await small.check_counters()

    async def test_a_batch_too_large_for_an_empty_overflow_is_refused_by_what_it_brings_itself(
        self, open_memory: OpenMemory
    ) -> None:
        large = open_memory(_LARGE)
        await large.append(*(user(f"m{number}") for number in range(60)))
        small = large.under(_SMALL)
        with pytest.raises(MemoryOversize, match="would push 152 tokens into the overflow, which takes 100"):
            await small.append(*(user(f"n{number}") for number in range(15)))
        assert (await small.append(*(user(f"n{number}") for number in range(9)))).evicted == 65

    async def test_an_overflow_that_holds_more_than_it_may_refuses_for_a_while(self, open_memory: OpenMemory) -> None:
        large = open_memory(_LARGE)
        await large.append(*(user(f"m{number}") for number in range(150)))
        small = large.under(summarising(max_tokens=1000, summary_tokens=100, overflow_tokens=500, due_tokens=720))
        with pytest.raises(MemoryBackpressure, match="600 tokens wait to be summarised"):
            await small.append(user("a"))
        await small.flush()
        assert (await small.append(user("a"))).evicted == 0

    @pytest.mark.parametrize("unit", ["tokens", "messages"])
    async def test_a_result_of_a_group_that_a_lowered_budget_cannot_hold_goes_with_it(
        self, open_memory: OpenMemory, unit: str
    ) -> None:
        large = open_memory(_LARGE)
        await large.append(user("a"), call("C", "1", "2", "3", tokens=60), result("r1", "1"), result("r2", "2"))
        lower = _SMALL if unit == "tokens" else summarising(**_numbers(_LARGE), max_messages=3)
        appended = await large.under(lower).append(result("r3", "3"))
        assert (appended.evicted, appended.flush_due) == (5, True)
        assert await large.waiting() == ["a", "C", "r1", "r2", "r3"]

    async def test_a_group_that_grows_above_a_budget_is_refused_as_ever(self, open_memory: OpenMemory) -> None:
        small = open_memory(_SMALL)
        await small.append(call("C", "1", "2", tokens=30))
        with pytest.raises(MemoryOversize, match="its group of tool calls and results has 50 tokens"):
            await small.append(result("r", "1", 20))

    async def test_what_may_not_be_evicted_is_named_where_it_blocks_and_frees_when_unpinned(
        self, open_memory: OpenMemory
    ) -> None:
        large = open_memory(_LARGE)
        (pin,) = (await large.append(user("p", 90, pinned=True))).ids
        small = large.under(_SMALL)
        with pytest.raises(MemoryOversize, match="would have 90 tokens, but messages may fill at most 42; they are ne"):
            await small.append(user("a"))
        await small.unpin(pin)
        assert (await small.append(user("a"))).evicted == 1
        assert texts_of(await small.read()) == ["a"]

    async def test_a_section_above_its_lowered_share_yields_at_the_next_append_to_any_other(
        self, open_memory: OpenMemory
    ) -> None:
        shared = open_memory(divided())
        await shared.append(user("s0"), *(user(f"b{number}", section="bookings") for number in range(3)))
        await shared.append(user("s1"))
        lowered = shared.under(divided(shares=_PARTS))
        appended = await lowered.append(user("s2", 5))
        assert (appended.evicted, (await lowered.stats()).tokens["bookings"]) == (1, 20)
        await lowered.check_counters()

    @pytest.mark.parametrize("change", ["pin", "unpin", "delete", "append", "write"])
    async def test_since_when_a_flush_is_due_counts_from_the_first_change_after_the_budget_was_lowered(
        self, open_memory: OpenMemory, change: str
    ) -> None:
        memory = open_memory(dropping())
        ids = (await memory.append(user("p", pinned=True), *(user(text) for text in "abcde"))).ids
        lowered = memory.under(dropping(due_tokens=30))
        # What changes nothing notes nothing.
        await lowered.delete("nonsense")
        await lowered.pin(ids[0])
        await lowered.unpin(ids[1])
        stats = await lowered.stats()
        assert (stats.flush_due, stats.due_since) == (True, None)
        wanted = {"append": (user("x"),), "write": tuple(user(text) for text in "xyz"), "unpin": ids[:1]}
        await getattr(lowered, change)(*wanted.get(change, ids[1:2]))
        stats = await lowered.stats()
        assert stats.due_since == stats.updated_at


def _numbers(limits: Limits) -> dict[str, int | None]:
    names = ("max_tokens", "summary_tokens", "overflow_tokens", "due_tokens", "target_tokens")
    return {name: getattr(limits, name) for name in names}
