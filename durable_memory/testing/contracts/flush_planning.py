"""Conformance: a dry run tells what a flush then does, and a bound on its messages holds, in whole groups."""

from __future__ import annotations

import pytest

from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.values import Entry
from durable_memory.testing.contracts.builders import call, divided, dropping, result, summarising, system, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven

SEVEN = [user(text) for text in "abcdefg"]
PINS = [user(text, pinned=True) for text in "abcdefg"]


class FlushPlanningContract(StoreCase):
    """Plans and bounds of a flush."""

    @pytest.mark.parametrize("force", [False, True])
    async def test_a_plan_names_what_the_flush_then_removes(self, memory: Driven, *, force: bool) -> None:
        await memory.append(system("s"), call("C", "1"), result("r", "1"), *(user(text) for text in "abcdefg"))
        await memory.flush("first")
        await memory.append(*(user(text) for text in "hijklm"))
        plan = await memory.plan(force=force)
        flushed = await memory.flush("second", force=force)
        assert plan.outcome == "planned"
        assert plan.removed_ids == flushed.removed_ids
        assert (plan.tokens_before, plan.messages_before) == (flushed.tokens_before, flushed.messages_before)
        assert plan.messages_after == flushed.messages_after
        # The summary of this test takes 10 of the 20 tokens that are kept for it.
        assert plan.tokens_after == flushed.tokens_after + 10

    async def test_a_plan_of_a_memory_that_drops_is_exact(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping())
        await memory.append(*(user(text) for text in "abcdefghi"))
        plan = await memory.plan()
        dropped = await memory.drop()
        assert (plan.outcome, dropped.outcome) == ("planned", "dropped")
        assert plan.removed_ids == dropped.removed_ids
        assert (plan.tokens_after, plan.messages_after) == (dropped.tokens_after, dropped.messages_after)

    async def test_a_plan_changes_nothing(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefghij"))
        before = await memory.state()
        first = await memory.plan()
        assert await memory.plan() == first
        assert await memory.state() == before
        assert (await memory.state())[1].flushing_owner is None

    async def test_a_plan_says_why_nothing_would_go(self, memory: Driven) -> None:
        assert (await memory.plan()).outcome == "gone"
        await memory.append(user("a"))
        assert ((await memory.plan()).outcome, (await memory.plan()).reason) == ("nothing", "below_threshold")
        await memory.append(*(user(text) for text in "bcdefg"))
        await memory.batch("another")
        busy = await memory.plan(force=True)
        assert (busy.outcome, busy.retry_after_ms > 0) == ("busy", True)

    @pytest.mark.parametrize(
        ("limits", "entries", "outcome", "blocked"),
        [
            (summarising(), SEVEN[:3], "nothing", None),
            (summarising(), SEVEN, "planned", None),
            (summarising(), [*SEVEN, *SEVEN], "planned", None),
            (summarising(), PINS, "nothing", "pinned"),
            (summarising(policy="lru"), PINS, "nothing", "pinned"),
            (summarising(), [*PINS, user("h")], "planned", None),
            (summarising(), [*PINS, call("C", "1")], "planned", None),
            (summarising(), [call(text, text) for text in "abcdefg"], "planned", None),
            (summarising(keep_last=7), SEVEN, "nothing", "keep"),
            (summarising(keep_first=3, keep_last=4, policy="lfu"), SEVEN, "nothing", "keep"),
            (summarising(keep_first=3, keep_last=3, policy="token_aware_lru"), SEVEN, "planned", None),
            (summarising(keep_last=1), [*PINS, user("h")], "nothing", "keep"),
            (summarising(target_tokens=65, oldest_share=0.5), SEVEN, "planned", None),
            (dropping(keep_last=8), [*SEVEN, user("h")], "nothing", "keep"),
            (dropping(), [*SEVEN, user("h")], "planned", None),
            (divided(), [user("p", 35, section="bookings", pinned=True), user("c")], "nothing", "pinned"),
            (divided(), [user("b", 35, section="bookings"), user("c", pinned=True)], "planned", None),
            (divided(keep_last=5), [*SEVEN[:5], user("n", 16, section="notes")], "planned", None),
            (divided(keep_last=5), SEVEN[:5], "nothing", "keep"),
        ],
    )
    async def test_a_due_flush_is_called_blocked_where_it_would_take_nothing_and_nowhere_else(
        self, open_memory: OpenMemory, limits: Limits, entries: list[Entry], outcome: str, blocked: str | None
    ) -> None:
        memory = open_memory(limits)
        await memory.append(*entries)
        stats, plan = await memory.stats(), await memory.plan()
        assert (plan.outcome, stats.flush_blocked) == (outcome, blocked)
        assert (outcome == "nothing" and stats.flush_due) == (blocked is not None)
        assert plan.reason == ("below_threshold" if outcome == "nothing" and not stats.flush_due else blocked)

    async def test_summaries_above_a_room_that_was_lowered_are_due_and_not_blocked(
        self, open_memory: OpenMemory
    ) -> None:
        memory = open_memory(summarising())
        await memory.append(user("a"))
        batch = await memory.batch(force=True)
        await memory.summarise(batch, tokens=20)
        await memory.commit(batch)
        lowered = memory.under(summarising(summary_tokens=5, keep_last=9))
        stats, plan = await lowered.stats(), await lowered.plan()
        assert (stats.flush_due, stats.flush_blocked, plan.outcome) == (True, None, "planned")

    async def test_a_plan_waits_after_a_failure_as_a_flush_does(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        await memory.store.fail(memory.memory, await memory.batch(), "SummariserDown", 60_000)
        assert (await memory.plan()).outcome == (await memory.refused_begin("next")).outcome == "busy"
        assert (await memory.plan(force=True)).outcome == "planned"

    async def test_a_bounded_flush_takes_no_more_and_the_next_one_goes_on(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch("first", most=2)
        assert (batch.messages, batch.tokens, await memory.content_texts(batch)) == (2, 20, ["a", "b"])
        await memory.summarise(batch)
        await memory.commit(batch)
        assert (await memory.texts())[1:] == list("cdefg")
        await memory.check_counters()

    async def test_what_waits_goes_first_and_what_is_left_waits_on(self, memory: Driven) -> None:
        ids = (await memory.append(*(user(text) for text in "abcdefghijkl"))).ids
        batch = await memory.batch(most=3)
        assert (batch.tokens, await memory.content_texts(batch)) == (30, ["a", "b", "c"])
        await memory.summarise(batch)
        committed = await memory.commit(batch)
        assert (committed.removed_ids, committed.flush_due) == (ids[:3], True)
        assert (await memory.read()).omitted_messages == 1
        await memory.check_counters()

    async def test_a_bound_keeps_groups_whole(self, memory: Driven) -> None:
        await memory.append(user("a"), call("C", "1"), result("r", "1"), *(user(text) for text in "bcde"))
        assert await memory.content_texts(await memory.batch(most=2)) == ["a"]

    async def test_a_first_group_that_is_larger_than_the_bound_is_the_reason_for_nothing(self, memory: Driven) -> None:
        await memory.append(call("C", "1"), result("r", "1"), *(user(text) for text in "abcde"))
        nothing = await memory.refused_begin(most=1)
        assert (nothing.outcome, nothing.reason) == ("nothing", "max_messages")
        assert await memory.plan(most=1) == nothing

    async def test_a_bounded_drop_takes_no_more(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping())
        ids = (await memory.append(*(user(text) for text in "abcdefghi"))).ids
        assert (await memory.drop(most=2)).removed_ids == ids[:2]
        assert await memory.texts() == list("cdefghi")
        await memory.check_counters()

    async def test_what_waited_when_a_resource_turned_to_dropping_is_dropped_within_the_bound(
        self, memory: Driven
    ) -> None:
        ids = (await memory.append(*(user(text) for text in "abcdefghijkl"))).ids
        turned = memory.under(dropping())
        assert (await turned.drop(most=3)).removed_ids == ids[:3]
        assert ((await turned.read()).omitted_messages, (await turned.read()).omitted_tokens) == (1, 10)
        await turned.check_counters()

    @pytest.mark.parametrize("policy", ["fifo", "lru", "lfu", "priority"])
    async def test_a_plan_under_another_policy_is_what_a_flush_under_it_then_does(
        self, open_memory: OpenMemory, policy: str
    ) -> None:
        before = open_memory(summarising(policy="lru" if policy == "fifo" else "fifo"))
        await before.append(
            *(user(text, band=band) for text, band in zip("abcdefg", (0, 2, 1, 1, 2, 0, 1), strict=True))
        )
        memory = before.under(summarising(policy=policy))
        state = await memory.state()
        plan = await memory.plan()
        assert await memory.state() == state
        assert plan.removed_ids == (await memory.flush()).removed_ids

    async def test_keep_first_and_keep_last_bound_a_plan_too(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(keep_first=1, keep_last=1))
        ids = (await memory.append(*(user(text) for text in "abc"))).ids
        assert (await memory.plan(force=True)).removed_ids == (ids[1],)
