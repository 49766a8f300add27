"""What runs beside an activity or a worker has ended when that goes on: nothing is left to the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

from durable_memory import MemoryClient
from durable_memory.activities.heartbeat import heartbeating
from durable_memory.running.membership import WorkerGroups
from durable_memory.running.repeating import repeating
from durable_memory.running.worker_group import WorkerGroup
from tests.integration.temporal.rig import REGISTRY, unique, worker


async def left_by(context: AbstractAsyncContextManager[object]) -> set[asyncio.Task[object]]:
    """Returns the tasks that a context leaves running."""
    before = asyncio.all_tasks()
    async with context:
        await asyncio.sleep(0)
        assert asyncio.all_tasks() - before
    return asyncio.all_tasks() - before


async def test_an_activity_that_has_ended_beats_no_more() -> None:
    async def run() -> set[asyncio.Task[object]]:
        return await left_by(heartbeating())

    assert await ActivityEnvironment().run(run) == set()


async def test_a_worker_that_has_ended_is_followed_no_more(client: Client, redis_url: str) -> None:
    def connect() -> Awaitable[MemoryClient]:
        return MemoryClient.connect(redis_url, memories=REGISTRY)

    groups = WorkerGroups(lambda first, after: WorkerGroup(first, connect, lambda _: None, nullcontext, after=after))
    one = worker(client, unique("queue"))
    async with groups.joined(one) as group:
        assert await left_by(groups.followed(one, group)) == set()


async def test_who_is_cancelled_while_the_work_beside_it_ends_is_cancelled() -> None:
    ending = asyncio.Event()

    async def turn() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ending.set()
            await asyncio.sleep(60)  # until it is cancelled once more

    async def work() -> None:
        async with repeating(turn, "a turn", pause=timedelta(0)):
            await asyncio.sleep(0)

    working = asyncio.create_task(work())
    await ending.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
