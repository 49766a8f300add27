"""A resource asks its model no more than its budget of the day allows, in all processes together."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
import redis.asyncio

from durable_memory import MemoryClient, Registry
from durable_memory.memory.clock import ManualClock
from durable_memory.memory.declarations.model_requests import full_request_tokens
from durable_memory.memory.errors import MemoryBudgetSpent, MemoryInvalid, MemoryModelRefused, MemoryModelUnavailable
from durable_memory.memory.memory import Memory
from durable_memory.memory.stores.in_memory import open_in_memory
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from tests.integration.llm.endpoint import SUMMARY, Endpoint, Fails, Says
from tests.integration.llm.rig import declared, desk
from tests.integration.temporal.background import texts
from tests.integration.temporal.flows.calls import AppendMany
from tests.integration.temporal.rig import unique

BUDGET = 10_000
LONGEST_SECONDS = 60
"""What one of these tests may take on a busy machine."""


@pytest.fixture(autouse=True)
async def within_one_day() -> None:
    """Shortly before midnight UTC, waits for the new day: it would begin with a new budget in the middle of a test."""
    left = 86_400 - time.time() % 86_400
    if left < LONGEST_SECONDS:
        await asyncio.sleep(left)


async def client(redis_url: str, service: Endpoint, project: str, **summarizer: Any) -> MemoryClient:
    fields = {"daily_token_budget": BUDGET, **summarizer}
    registry = Registry.from_resources([declared("desk", service.url, **fields)])
    return await MemoryClient.connect(redis_url, memories=registry, project=project)


async def flush(memory: Memory) -> str:
    await memory.append(texts(3))
    return (await memory.flush(force=True)).outcome


async def reserved(service: Endpoint) -> tuple[int, int]:
    """Returns what the one request may cost: its question, and the longest answer."""
    ((instructions, text),) = service.questions
    counter = TiktokenCounter()
    told = [(await counter.count_text(part)).tokens for part in (instructions, text)]
    return sum(told), service.requests[0]["max_completion_tokens"]


async def test_what_was_charged_counts_and_not_what_was_reserved(redis_url: str, service: Endpoint) -> None:
    project = unique("project")
    service.default = Says(tokens=(900, 100))
    async with await client(redis_url, service, project) as memories:
        for number in range(3):
            assert await flush(memories.memory("desk", f"key-{number}")) == "committed"
        assert await memories.parts.backends["redis"].spending.spent(project, "desk") == 3_000


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
async def test_a_request_that_was_answered_with_an_error_status_costs_nothing(
    redis_url: str, service: Endpoint, status: int
) -> None:
    project = unique("project")
    service.default = Fails(status)
    async with await client(redis_url, service, project, fallback="none") as memories:
        with pytest.raises((MemoryModelUnavailable, MemoryModelRefused)):
            await flush(memories.memory("desk", "key"))
        assert await memories.parts.backends["redis"].spending.spent(project, "desk") == 0


async def test_a_request_that_never_left_costs_nothing(redis_url: str, service: Endpoint) -> None:
    project = unique("project")
    service.url = "http://127.0.0.1:9/v1"
    async with await client(redis_url, service, project, fallback="none") as memories:
        with pytest.raises(MemoryModelUnavailable, match="cannot be reached"):
            await flush(memories.memory("desk", "key"))
        assert await memories.parts.backends["redis"].spending.spent(project, "desk") == 0


@pytest.mark.parametrize(
    "reply",
    [Says(cut=True), Says(finish=None, tokens=None), Says(breaks=True), Says(drip_seconds=1.0)],
    ids=["cut", "no-end", "error-in-the-stream", "too-slow"],
)
async def test_a_request_that_broke_off_or_took_too_long_may_have_been_charged(
    redis_url: str, service: Endpoint, reply: Says
) -> None:
    project = unique("project")
    service.default = reply
    async with await client(redis_url, service, project, fallback="none", timeout="1s") as memories:
        with pytest.raises(MemoryModelUnavailable):
            await flush(memories.memory("desk", "key"))
        assert await memories.parts.backends["redis"].spending.spent(project, "desk") == sum(await reserved(service))


async def test_a_provider_that_is_always_too_slow_is_asked_no_more_than_the_budget_pays_for(
    redis_url: str, service: Endpoint
) -> None:
    project = unique("project")
    service.default = Says(cut=True)
    async with await client(redis_url, service, project, fallback="none") as memories:
        memory = memories.memory("desk", "key")
        await memory.append(texts(3))
        for _ in range(2 * BUDGET // 1_000):
            with pytest.raises((MemoryModelUnavailable, MemoryBudgetSpent)):
                await memory.flush(force=True)
        assert 0 < len(service.requests) <= BUDGET // 1_000
        assert await memories.parts.backends["redis"].spending.spent(project, "desk") <= BUDGET


@pytest.mark.parametrize(
    ("tokens", "counted"),
    [
        (None, (0, 0)),
        ((-5_000, 30), (0, 0)),
        ((120, -7), (0, 0)),
        ((0, 30), (0, 30)),
        ((120, 0), (120, 0)),
        ((10**30, 30), (0, 30)),
        ((120, 10**20), (120, 0)),
        (("many", 30), (0, 0)),
    ],
    ids=[
        "none",
        "negative-input",
        "negative-output",
        "no-input",
        "no-output",
        "absurd-input",
        "absurd-output",
        "words",
    ],
)
@pytest.mark.filterwarnings("ignore:Failed to extract usage")
async def test_what_a_provider_does_not_count_or_counts_absurdly_stays_as_it_was_reserved(
    redis_url: str, service: Endpoint, tokens: tuple[Any, Any] | None, counted: tuple[int, int]
) -> None:
    project = unique("project")
    service.default = Says(tokens=tokens)
    async with await client(redis_url, service, project) as memories:
        assert await flush(memories.memory("desk", "key")) == "committed"
        told, answer = await reserved(service)
        spent = await memories.parts.backends["redis"].spending.spent(project, "desk")
        assert spent == (counted[0] or told) + (counted[1] or answer)


async def test_a_request_that_was_given_up_may_have_been_charged(redis_url: str, service: Endpoint) -> None:
    project = unique("project")
    service.default = Says(gate=asyncio.Event())
    async with await client(redis_url, service, project) as memories:
        flushing = asyncio.create_task(flush(memories.memory("desk", "key")))
        await service.asked.wait()
        flushing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await flushing
        assert await memories.parts.backends["redis"].spending.spent(project, "desk") > 0


async def test_a_spent_budget_asks_nobody_and_the_rules_write(redis_url: str, service: Endpoint) -> None:
    service.default = Says(tokens=(9_900, 90))
    project = unique("project")
    async with (
        await client(redis_url, service, project) as memories,
        await client(redis_url, service, project) as other_process,
    ):
        assert await flush(memories.memory("desk", "first")) == "committed"
        second = other_process.memory("desk", "second")
        assert await flush(second) == "committed"
        assert len(service.requests) == 1
        (summary,) = [message for message in (await second.read()).messages if message.section == "long_term"]
        assert "The parcel" in summary.text
        assert SUMMARY not in summary.text


async def test_a_request_that_no_day_pays_for_is_said_to_be_one_and_is_not_made(
    redis_url: str, service: Endpoint
) -> None:
    """An answer of long words, whose number the service counts, is so long that to shorten it costs more than a day."""
    project, least = unique("project"), full_request_tokens(256, 80, None)
    service.default = Says(
        " ".join(f"Anna-in-Ghent-has-parcel-{i}-said-Bob" for i in range(4711, 4811)), tokens=(300, 500)
    )
    async with await client(
        redis_url, service, project, fallback="none", daily_token_budget=least, max_input_tokens=256
    ) as memories:
        memory = memories.memory("desk", "key")
        await memory.append(["Parcel 4711 was sent to Anna in Ghent, said Bob.", "The second one."])
        with pytest.raises(MemoryInvalid, match=rf"more than its whole daily_token_budget of {least:,}; raise it"):
            await memory.flush(force=True)
        assert len(service.requests) == 1
        assert await memories.parts.backends["redis"].spending.spent(project, "desk") == 800


async def test_a_new_day_has_a_new_budget(service: Endpoint) -> None:
    clock = ManualClock()
    service.default = Says(tokens=(9_900, 90))
    declaration = declared("desk", service.url, daily_token_budget=BUDGET, fallback="none")
    registry = Registry.from_resources([{**declaration, "persistence": {"type": "in_memory"}}])
    async with MemoryClient(registry, {"in_memory": open_in_memory(clock)}, clock=clock) as memories:
        assert await flush(memories.memory("desk", "first")) == "committed"
        with pytest.raises(MemoryBudgetSpent, match=r"daily_token_budget of 10,000.*midnight UTC"):
            await flush(memories.memory("desk", "second"))
        clock.advance(seconds=86_400)
        assert await flush(memories.memory("desk", "third")) == "committed"


async def test_the_count_in_redis_is_of_one_day_and_ends_by_itself(redis_url: str, service: Endpoint) -> None:
    project = unique("project")
    async with (
        await client(redis_url, service, project) as memories,
        redis.asyncio.from_url(redis_url, decode_responses=True) as server,
    ):
        spending, key = memories.parts.backends["redis"].spending, f"dm:{{{project}}}:spent:desk"
        today = await spending.reserve(project, "desk", "first", 400, BUDGET)
        assert 0 < await server.ttl(key) <= 2 * 86_400
        assert await server.hgetall(key) == {"day": str(today), "tokens": "400", "r:first": "400"}
        assert today is not None
        await server.hset(key, "day", str(today - 1))
        assert await spending.spent(project, "desk") == 0
        assert await spending.reserve(project, "desk", "second", BUDGET, BUDGET) == today
        await spending.settle(project, "desk", "second", 300, today)
        assert await server.hgetall(key) == {"day": str(today), "tokens": "300"}


async def test_without_a_fallback_a_spent_budget_refuses_the_flush_and_health_names_it(
    temporal_address: str, redis_url: str, service: Endpoint
) -> None:
    service.default = Says(tokens=(9_900, 90))
    declaration = declared("desk", service.url, daily_token_budget=BUDGET, fallback="none")
    async with desk(temporal_address, redis_url, [declaration]) as rig:
        for key in ("first", "second"):
            await rig.run(AppendMany.run, "desk", [key], texts(3))
            await rig.flushed(rig.memory("desk", key))
        assert len(service.requests) == 1
        assert (await rig.memory("desk", "first").health()).healthy
        (problem,) = (await rig.memory("desk", "second").health()).problems
        assert "what is left of the daily_token_budget of its summariser does not pay for a request" in problem
        assert await rig.texts("desk", "second") == texts(3)
