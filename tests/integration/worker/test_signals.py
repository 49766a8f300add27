"""SIGTERM lets running work finish and ends with 0; a second signal does not wait."""

from __future__ import annotations

import asyncio
import signal

import psutil
from temporalio.client import Client

from durable_memory.dev import Valkey
from tests.integration.worker.calling import calling, until_started
from tests.integration.worker.conftest import StartWorker

REQUEST = {"memory": {"resource": "thread", "key": "k"}, "messages": [{"role": "user", "content": "Hello"}]}


async def test_work_that_runs_is_finished_before_the_end(
    start_worker: StartWorker, own_valkey: Valkey, temporal_client: Client, project: str
) -> None:
    async with start_worker(REDIS_URL=own_valkey.url) as worker, calling(temporal_client, project) as caller:
        await worker.ready()
        frozen = psutil.Process(own_valkey.server.pid)
        frozen.suspend()
        call = await caller.start("memory.append", REQUEST)
        await until_started(call)
        worker.process.send_signal(signal.SIGTERM)
        await worker.entry(signal="SIGTERM")
        frozen.resume()
        assert await worker.end() == 0
        # Nobody else serves the queue: this worker has answered.
        assert (await call.result())["messages"] == 1


async def test_a_second_signal_ends_at_once_and_leaves_no_server(
    start_worker: StartWorker, own_valkey: Valkey, project: str
) -> None:
    given = {"REDIS_URL": own_valkey.url, "TEMPORAL_ADDRESS": "", "DURABLE_MEMORY_LOG_FORMAT": "json"}
    async with start_worker("--dev", **given) as worker:
        await worker.ready()
        (temporal,) = worker.children()
        client = await Client.connect((await worker.entry(temporal=None))["temporal"])
        async with calling(client, project) as caller:
            psutil.Process(own_valkey.server.pid).suspend()
            await until_started(await caller.start("memory.append", REQUEST))
        worker.process.send_signal(signal.SIGTERM)
        await worker.entry(signal="SIGTERM")
        assert await worker.end(signal.SIGINT) == 128 + signal.SIGINT
        await asyncio.to_thread(psutil.wait_procs, [temporal], 30)
        assert not temporal.is_running()


async def test_a_signal_during_the_start_ends_it_as_well(start_worker: StartWorker) -> None:
    async with start_worker() as worker:
        await worker.entry(http=None)
        assert await worker.end(signal.SIGTERM) == 0
