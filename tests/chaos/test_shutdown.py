"""Workers come and go while appends go on: each leaves with 0, finishes what it began, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
import uuid
from asyncio.subprocess import PIPE
from collections import Counter
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from temporalio.client import Client

from durable_memory import MemoryClient
from durable_memory.activities import wire
from durable_memory.activities.waker import TemporalWaker, flusher_id
from durable_memory.memory.stores.values import Batch, FlushOptions
from tests.chaos.load import DECLARED, Load
from tests.integration.temporal.background import messages_accounted_for, texts
from tests.integration.temporal.flows.calls import Flush
from tests.integration.temporal.observing import attempts_of
from tests.integration.temporal.rig import REGISTRY, running, unique
from tests.integration.temporal.summarizers import Gated
from tests.integration.worker.workers import WorkerProcess, worker_process

WORKERS = int(os.environ.get("SHUTDOWN_WORKERS", "8"))
"""How many are started and stopped under load; 50 in the long form."""

AT_ONCE = 2
DRAIN_SECONDS = 10
"""How long a worker that is to leave goes on with what it has begun."""

APPENDS_OF_A_WORKER = 10
ROOT = Path(__file__).parents[2]


class Fleet:
    """Workers of one project; `codes` are those with which they left."""

    def __init__(self, folder: Path, redis_url: str, client: Client) -> None:
        self.project = unique("fleet")
        self.queue = f"flushes-of-{self.project}"
        self.codes: Counter[int] = Counter()
        self.seconds: list[float] = []
        self.complaints: list[str] = []
        self._folder = folder
        self._environment = {
            "REDIS_URL": redis_url,
            "TEMPORAL_ADDRESS": client.service_client.config.target_host,
            "DURABLE_MEMORY_PROJECT": self.project,
            "DURABLE_MEMORY_TASK_QUEUE": self.queue,
        }

    def start(self) -> AbstractAsyncContextManager[WorkerProcess]:
        """Starts a worker in a folder of its own."""
        folder = self._folder / uuid.uuid4().hex
        (folder / "memories").mkdir(parents=True)
        (folder / "memories" / "declared.yaml").write_text(json.dumps(DECLARED))
        return worker_process(cwd=folder, **self._environment)

    async def stop(self, worker: WorkerProcess) -> None:
        """Ends a worker by SIGTERM and notes how it left."""
        asked = time.monotonic()
        self.codes[await worker.end(signal.SIGTERM)] += 1
        self.seconds.append(time.monotonic() - asked)
        self.complaints += [
            f"{entry['level']}: {entry['message']}" for entry in worker.entries() if entry["level"] == "error"
        ]

    async def one_after_another(self, workers: int, load: Load) -> None:
        """Starts workers and stops each in the middle of its work."""
        for _ in range(workers):
            async with self.start() as worker:
                await worker.ready()
                await load.more(APPENDS_OF_A_WORKER)
                await self.stop(worker)


@pytest.fixture
def fleet(tmp_path: Path, redis_url: str, temporal_client: Client) -> Fleet:
    return Fleet(tmp_path, redis_url, temporal_client)


@pytest.mark.timeout(600 + 15 * WORKERS)
async def test_workers_that_come_and_go_under_load_leave_with_0_and_lose_nothing(
    fleet: Fleet, redis_url: str, temporal_client: Client
) -> None:
    load = Load(temporal_client, fleet.queue, writers=4)
    memories = await MemoryClient.connect(redis_url, memories=REGISTRY, project=fleet.project)
    async with memories, fleet.start() as last:
        async with load.going_on():
            await asyncio.gather(*(fleet.one_after_another(WORKERS // AT_ONCE, load) for _ in range(AT_ONCE)))
        stored = await load.stored(memories)
        await fleet.stop(last)
    print(f"{fleet.codes} after {max(fleet.seconds):.1f} s at most, {load.answered.total()} appends")  # noqa: T201 - the count
    assert fleet.codes == {0: WORKERS // AT_ONCE * AT_ONCE + 1}
    assert fleet.complaints == []
    assert stored == load.answered
    # What a worker had begun it also answered, unless it had to leave before. (A task on its way to a worker that stops
    # is another matter: the server gives it to the next one when its time is over.)
    assert load.applied_unanswered == 0 or max(fleet.seconds) >= DRAIN_SECONDS


async def test_a_flush_whose_worker_is_killed_is_finished_by_another_process(
    fleet: Fleet, redis_url: str, temporal_client: Client
) -> None:
    address = temporal_client.service_client.config.target_host
    program = ("-m", "tests.integration.temporal.stuck_worker", address, redis_url, fleet.project)
    doomed = await asyncio.create_subprocess_exec(sys.executable, *program, stdout=PIPE, cwd=ROOT)
    waker = TemporalWaker(temporal_client, fleet.queue)
    memories = await MemoryClient.connect(redis_url, memories=REGISTRY, project=fleet.project, waker=waker)
    async with memories:
        memory = memories.memory("small", "key")
        for text in texts(4):
            await memory.append(text)
        assert doomed.stdout is not None
        try:
            async with asyncio.timeout(120):
                assert await doomed.stdout.readline() == b"summarizing\n"
        finally:
            doomed.kill()
            await doomed.wait()
        await memory.append("Written while nobody flushed.")
        flusher = temporal_client.get_workflow_handle(flusher_id(memory.id))
        async with fleet.start() as worker:
            await flusher.result()
            await fleet.stop(worker)
        assert (await attempts_of(flusher, wire.FLUSH_SUMMARIZE))[0] > 1
        assert (await memory.stats()).messages["long_term"] == 1
        assert await messages_accounted_for(memory) == 5
    assert (fleet.codes, fleet.complaints) == ({0: 1}, [])


async def test_a_flush_that_a_stopping_worker_cuts_short_is_given_back_at_once(
    temporal_address: str, redis_url: str
) -> None:
    project, stuck = unique("project"), Gated()
    async with await MemoryClient.connect(redis_url, memories=REGISTRY, project=project) as memories:
        memory = memories.memory("patient", "key")  # whose lease is held for half a minute
        await memory.append(texts(3))
        async with running(temporal_address, redis_url, project=project, summarizer=stuck) as rig:
            handle = await rig.start(Flush.run, "patient", "key")
            await stuck.asked()
        declared = memories.registry.memory("patient")
        begun = await memories.parts.services(declared).flush.begin(
            memory.id, "another", declared.limits(), FlushOptions(force=True), attempt_ends_ms=2**52
        )
        assert isinstance(begun, Batch)
        assert begun.messages == 2
        await handle.terminate()
