"""A declaration that changed under a full memory: appends pass, flushes end, and what blocks says so."""

from __future__ import annotations

from typing import Any

import pytest

from durable_memory import MemoryClient, Message, Registry, current_memory_client
from durable_memory.memory.errors import MemoryInvalid, MemoryOperationConflict, MemoryOversize
from durable_memory.memory.memory import Memory
from durable_memory.testing import MemoryActivityEnvironment
from tests.integration.cases.conftest import unique

STORES = pytest.mark.parametrize("persistence", ["redis", "in_memory"])
SPOKEN = "Order {0} of the customer was shipped to place {0} on day {0}, price {0} euros, and signed for by the guard. "

LARGE = {"max_tokens": 6_000}
SMALL = {"max_tokens": 500}
DIVIDED = {
    "max_tokens": 2_000,
    "token_allocation": {"short_term": 0.5, "long_term": 0.5},
    "flushing": {"summary_tokens": 150, "keep_last": 0},
}
COMMON = {"max_tokens": 500, "flushing": {"summary_tokens": 100, "keep_last": 0}}
COUNTED = {"type": "message_count_based", "max_messages": 4, "flushing": {"keep_last": 0}}
DROPPING = {"max_tokens": 400, "flushing": {"type": "drop", "keep_last": 0}}


def declared(persistence: str, fields: dict[str, Any]) -> Registry:
    """One memory with these fields."""
    return Registry.from_resources(
        [{"resource": "memory", "id": "desk", "scope": "user", "persistence": {"type": persistence}, **fields}]
    )


async def connected(redis_url: str, persistence: str, fields: dict[str, Any]) -> MemoryClient:
    """A client of this memory alone."""
    return await MemoryClient.connect(redis_url, memories=declared(persistence, fields), project=unique("project"))


async def summarised(memory: Memory, times: int) -> None:
    """Leaves a summary, or as many as may stand beside each other."""
    for turn in range(times):
        for number in range(20):
            await memory.append(SPOKEN.format(20 * turn + number) * 2)
        await memory.flush(force=True)


async def settled(memory: Memory) -> int:
    """Flushes until nothing is due; returns how often that took something."""
    for turn in range(9):
        if (await memory.flush()).outcome == "nothing":
            return turn
    pytest.fail("flushes do not end")


@STORES
@pytest.mark.parametrize(
    ("before", "after", "times"),
    [(LARGE, SMALL, 3), (DIVIDED, COMMON, 5), (DIVIDED, COUNTED, 5), (DIVIDED, DROPPING, 5)],
    ids=["lowered", "made common", "counted by messages", "dropping"],
)
async def test_a_memory_goes_on_under_a_changed_declaration(
    redis_url: str, persistence: str, before: dict[str, Any], after: dict[str, Any], times: int
) -> None:
    async with await connected(redis_url, persistence, before) as client:
        await summarised(client.memory("desk", "key"), times)
        client.use(declared(persistence, after))
        memory = client.memory("desk", "key")
        old = await memory.stats()
        assert old.flush_due
        assert old.flush_blocked is None
        assert (await memory.read()).flush_due
        await memory.append("hello")
        await settled(memory)
        await memory.append("and again")
        view, stats = await memory.read(), await memory.stats()
        assert [message.text for message in view.messages if message.section == "short_term"][-1] == "and again"
        assert (view.omitted.tokens, stats.flush_due, (await memory.health()).problems) == (0, False, ())
        assert 0 < stats.tokens["long_term"] < old.tokens["long_term"]
        assert view.tokens == sum(stats.tokens.values())
        most, held = (stats.max_tokens, stats.tokens) if stats.max_tokens else (stats.max_messages, stats.messages)
        assert sum(held.values()) <= (most or 0)


@STORES
@pytest.mark.parametrize("method", ["append", "record_turn", "write"])
async def test_a_repetition_finds_what_was_written_to_a_section_that_is_dropped_since(
    redis_url: str, persistence: str, method: str
) -> None:
    sections = {"short_term": 0.5, "long_term": 0.3, "user_defined": {"bookings": 0.2}}
    booking = Message.user("Hotel Lux", section="bookings")
    async with await connected(redis_url, persistence, {**LARGE, "token_allocation": sections}) as client:
        await getattr(client.memory("desk", "key"), method)(booking, operation_id="one")
        client.use(declared(persistence, LARGE))
        memory = client.memory("desk", "key")
        again = await getattr(memory, method)(booking, operation_id="one")
        assert (again.result if method == "record_turn" else again).already_applied
        with pytest.raises(MemoryInvalid, match="section 'bookings', which the resource does not declare"):
            await getattr(memory, method)(booking, operation_id="two")
        if method != "record_turn":  # whose repetition may have other words
            with pytest.raises(MemoryOperationConflict):
                await getattr(memory, method)(Message.user("Hotel Rex", section="bookings"), operation_id="one")
        assert [message.text for message in (await memory.read()).messages] == ["Hotel Lux"]


async def test_a_handle_that_a_running_activity_opens_follows_the_declarations_in_force(redis_url: str) -> None:
    """An agent that loops for hours would store what a new policy takes out, and write where a new mode forbids it."""
    async with await connected(redis_url, "redis", LARGE) as client:

        async def agent() -> tuple[str, ...]:
            await current_memory_client().memory("desk", "key").append("Mail joe@example.com at once.")
            client.use(declared("redis", {**LARGE, "privacy_policy": {"redact_entities": ["email"]}}))
            await current_memory_client().memory("desk", "key").append("Mail ann@example.com as well.")
            return tuple(m.text for m in (await current_memory_client().memory("desk", "key").read()).messages)

        said = await MemoryActivityEnvironment(client).run(agent)
        assert said == ("Mail joe@example.com at once.", "Mail [redacted] as well.")


@STORES
async def test_a_flush_above_another_threshold_forgets_not_since_when_one_is_due(
    redis_url: str, persistence: str
) -> None:
    async with await connected(redis_url, persistence, DROPPING) as client:
        memory = client.memory("desk", "key")
        while not (await memory.append(SPOKEN.format(1))).flush_due:
            pass
        since = (await memory.stats()).due_since
        assert since is not None
        assert (await memory.flush(threshold=1.0)).outcome == "nothing"
        assert (await memory.stats()).due_since == since


@STORES
async def test_a_budget_below_what_is_pinned_says_what_blocks_and_passes_when_it_is_unpinned(
    redis_url: str, persistence: str
) -> None:
    async with await connected(redis_url, persistence, LARGE) as client:
        pinned = await client.memory("desk", "key").append([Message.user(SPOKEN.format(7) * 40, pinned=True)])
        client.use(declared(persistence, SMALL))
        memory = client.memory("desk", "key")
        with pytest.raises(MemoryOversize, match="at most 450; they are never evicted, so delete or unpin some first"):
            await memory.append("hello")
        await memory.unpin(list(pinned.ids))
        assert (await memory.append("hello")).evicted == 1
        assert await settled(memory) == 1
