"""What `health` says of a flush that is due while no worker polls the queue of the project."""

from __future__ import annotations

import asyncio

from temporalio.client import Client

from durable_memory import MemoryClient, Registry, TemporalWaker
from durable_memory.activities.waker import flusher_id
from durable_memory.memory.clock import ManualClock
from durable_memory.memory.stores.in_memory import open_in_memory
from durable_memory.memory.types import MemoryHealth
from tests.integration.temporal.rig import Rig, unique

RESOURCE = {
    "resource": "memory",
    "id": "desk",
    "max_tokens": 400,
    "persistence": {"type": "in_memory"},
    "flushing": {"summary_tokens": 50, "keep_last": 0},
}


async def healths_of_a_flush_that_is_due(temporal: Client, queue: str) -> list[MemoryHealth]:
    """Health at 59 and at 121 seconds after a flush became due that only workers of this queue take up."""
    clock = ManualClock()
    memories = MemoryClient(
        Registry.from_resources([RESOURCE]),
        {"in_memory": open_in_memory(clock)},
        project=unique("project"),
        waker=TemporalWaker(temporal, queue),
        clock=clock,
    )
    memory = memories.memory("desk", "k")
    await memory.append(["A sentence of about ten tokens, more or less."] * 22)
    await temporal.get_workflow_handle(flusher_id(memory.id)).terminate()
    found = []
    for seconds in (59, 62):
        clock.advance(seconds=seconds)
        found.append(await memory.health())
    return found


async def test_a_flush_that_no_worker_polls_for_is_a_problem_after_a_minute(temporal_client: Client) -> None:
    queue = unique("nobody-polls")
    soon, later = await healths_of_a_flush_that_is_due(temporal_client, queue)
    assert (soon.healthy, soon.problems) == (True, ())
    assert later.problems == (
        f"no worker polls the queue {queue!r}, and a flush has been due for 2 minutes: start a worker of this project",
    )


async def test_a_flush_that_a_worker_polls_for_is_none_yet(rig: Rig) -> None:
    waker = TemporalWaker(rig.client, rig.flush_queue)
    async with asyncio.timeout(60):
        while await waker.unpolled("default") is not None:  # noqa: ASYNC110 - nobody tells that the worker has begun
            await asyncio.sleep(0.05)
    for health in await healths_of_a_flush_that_is_due(rig.client, rig.flush_queue):
        assert (health.healthy, health.problems) == (True, ())


async def test_where_temporal_cannot_tell_nothing_is_said_of_workers(temporal_address: str) -> None:
    client = await Client.connect(temporal_address, namespace="default")
    waker = TemporalWaker(client, "q" * 2_000)  # which the server refuses to look for
    assert await waker.unpolled("default") is None
