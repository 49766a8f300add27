"""Clocks of different machines differ: a flush and an append work all the same, or are refused by their type."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from durable_memory import MemoryClient
from durable_memory.activities import flush
from durable_memory.activities.interceptor import ActivityInterceptor
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import MemoryOperationExpired
from durable_memory.memory.stores.redis.connection import connect_redis
from tests.integration.cases.conftest import unique

HOUR_MS = 3_600_000


class Innermost(ActivityInboundInterceptor):
    """Runs the activity itself."""

    def __init__(self) -> None:
        """Has nobody behind it."""

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        return await input.fn(*input.args)


async def run_activity(client: MemoryClient, function: Any, request: Any, *, behind: timedelta) -> Any:
    """Runs an activity whose times were set by a Temporal whose clock is behind Redis'."""
    environment = ActivityEnvironment()
    now = datetime.now(UTC) - behind
    environment.info = dataclasses.replace(
        environment.info,
        scheduled_time=now,
        started_time=now,
        start_to_close_timeout=timedelta(seconds=10),
        schedule_to_close_timeout=timedelta(minutes=10),
    )
    inbound = ActivityInterceptor(lambda: client).intercept_activity(Innermost())
    asked = ExecuteActivityInput(fn=function, args=[request], executor=None, headers={})
    return await environment.run(inbound.execute_activity, asked)


async def test_a_flush_begins_though_the_clocks_differ_by_half_a_minute(in_redis: MemoryClient) -> None:
    memory = in_redis.memory("small", unique("key"))
    while not (await memory.append("some words that fill what there is " * 3)).flush_due:
        pass
    target = {"project": memory.id.project, "resource": memory.id.resource, "key": memory.id.key}
    request = {"target": target, "owner": unique("owner"), "force": False}
    begun = await run_activity(in_redis, flush.begin, request, behind=timedelta(seconds=30))
    assert begun["outcome"] == "batch"


@dataclasses.dataclass
class Shifted:
    """A clock that is wrong."""

    by: timedelta

    def now_ms(self) -> int:
        return round((datetime.now(UTC) + self.by).timestamp() * 1000)


@pytest.mark.parametrize(("hours", "kept_hours"), [(-20, 4), (0, 24), (20, 44), (24 * 365, 48)])
async def test_a_wrong_clock_of_a_process_changes_no_append_which_is_known_for_two_days_at_most(
    redis_url: str, folder: Path, hours: int, kept_hours: int
) -> None:
    backend = await connect_redis(redis_url)
    client = MemoryClient(
        Registry.load([folder]), {"redis": backend}, project=unique("project"), clock=Shifted(timedelta(hours=hours))
    )
    async with client:
        memory = client.memory("chat", "key")
        for _ in range(2):
            await memory.append("one", operation_id="one")
        assert [message.text for message in (await memory.read()).messages] == ["one"]
        async with Redis.from_url(redis_url) as raw:
            for name in ("ops", "opx"):
                left_ms = await raw.pttl(f"dm:{{{client.project}/chat/key}}:{name}")
                assert kept_hours * HOUR_MS < left_ms < (kept_hours + 1) * HOUR_MS


async def test_a_clock_that_is_a_day_behind_is_refused_and_never_applied_twice(redis_url: str, folder: Path) -> None:
    backend = await connect_redis(redis_url)
    client = MemoryClient(
        Registry.load([folder]), {"redis": backend}, project=unique("project"), clock=Shifted(timedelta(hours=-25))
    )
    async with client:
        with pytest.raises(MemoryOperationExpired, match="compare the clocks"):
            await client.memory("chat", "key").append("one")
        assert (await client.memory("chat", "key").read()).version == "absent"
