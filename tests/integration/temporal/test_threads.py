"""One plugin in several threads, each with an event loop, a client and workers of its own."""

from __future__ import annotations

import asyncio
import threading

from temporalio.client import Client
from temporalio.plugin import SimplePlugin
from temporalio.worker import Worker, WorkerConfig

from durable_memory import MemoryRef
from durable_memory.memory.task_queues import summaries_queue
from tests.integration.temporal.flows.calls import Append
from tests.integration.temporal.rig import plugin, unique


class Stops(SimplePlugin):
    """Stops the thread that makes the worker of a task queue, until the test lets it go."""

    def __init__(self, task_queue: str) -> None:
        super().__init__("tests.Stops")
        self.task_queue = task_queue
        self.stopped = threading.Event()
        self.go = threading.Event()

    def configure_worker(self, config: WorkerConfig) -> WorkerConfig:
        """See base class."""
        if config.get("task_queue") == self.task_queue:
            self.stopped.set()
            if not self.go.wait(240):
                raise TimeoutError("the test did not let it go")
        return super().configure_worker(config)


async def test_a_worker_made_while_another_thread_makes_one_of_ours_has_all_its_activities(
    temporal_address: str, redis_url: str
) -> None:
    project = unique("project")
    shared, stops = plugin(redis_url, project), Stops(summaries_queue(f"flushes-of-{project}"))

    async def append(*others: SimplePlugin) -> int:
        client = await Client.connect(temporal_address, plugins=[shared, *others])
        queue = unique("queue")
        async with Worker(client, task_queue=queue, workflows=[Append]):
            async with asyncio.timeout(120):
                view = await client.execute_workflow(
                    Append.run, args=[MemoryRef("chat", unique("key")), "Hello."], id=unique("run"), task_queue=queue
                )
        return len(view)

    first = asyncio.create_task(asyncio.to_thread(lambda: asyncio.run(append(stops))))
    assert await asyncio.to_thread(stops.stopped.wait, 120)
    try:
        second = await append()
    finally:
        stops.go.set()
    assert await first == second == 1
