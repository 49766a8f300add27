"""SIGTERM lets running work finish and ends with 0; another signal, a second or more later, does not wait."""

from __future__ import annotations

import asyncio
import signal
import sys

import psutil
import pytest
from temporalio.client import Client

from durable_memory.dev import Valkey
from tests.integration.worker.calling import calling, until_started
from tests.integration.worker.conftest import StartWorker

REQUEST = {"memory": {"resource": "thread", "key": "k"}, "messages": [{"role": "user", "content": "Hello"}]}


@pytest.mark.parametrize("signals", [(signal.SIGTERM,), (signal.SIGINT, signal.SIGTERM, signal.SIGTERM)], ids=len)
async def test_work_that_runs_is_finished_before_the_end_also_after_signals_that_come_together(
    start_worker: StartWorker,
    own_valkey: Valkey,
    temporal_client: Client,
    project: str,
    signals: tuple[signal.Signals, ...],
) -> None:
    async with start_worker(REDIS_URL=own_valkey.url) as worker, calling(temporal_client, project) as caller:
        await worker.ready()
        frozen = psutil.Process(own_valkey.server.pid)
        frozen.suspend()
        call = await caller.start("memory.append", REQUEST)
        await until_started(call)
        for number in signals:
            worker.process.send_signal(number)
        await worker.entry(signal=None)
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
        await asyncio.sleep(1.1)
        assert await worker.end(signal.SIGINT) == 128 + signal.SIGINT
        await asyncio.to_thread(psutil.wait_procs, [temporal], 30)
        assert not temporal.is_running()


async def test_an_open_request_is_no_error_of_a_clean_end(start_worker: StartWorker) -> None:
    async with start_worker() as worker:
        await worker.ready()
        host, port = (await worker.entry(http=None))["http"].removeprefix("http://").split(":")
        idle = [await asyncio.open_connection(host, int(port)) for _ in range(3)]
        half = idle[0][1]
        half.write(b"GET /livez HTTP/1.1\r\n")
        await half.drain()
        assert (await worker.get("/livez"))[0] == 200  # which was accepted after those
        assert await worker.end(signal.SIGTERM) == 0
        for _, writer in idle:
            writer.close()
        assert [entry for entry in worker.entries() if entry["logger"] == "durable_memory.asyncio"] == []


async def test_a_wish_to_reload_during_the_start_does_not_end_it(start_worker: StartWorker, own_valkey: Valkey) -> None:
    given = {"REDIS_URL": own_valkey.url, "TEMPORAL_ADDRESS": "", "DURABLE_MEMORY_LOG_FORMAT": "json"}
    frozen = psutil.Process(own_valkey.server.pid)
    frozen.suspend()
    async with start_worker("--dev", **given) as worker:
        await worker.entry(temporal=None)  # and waits for Redis now
        worker.process.send_signal(signal.SIGHUP)
        frozen.resume()
        await worker.ready()
        assert await worker.end(signal.SIGTERM) == 0


PROGRAM = """
import os, signal, sys, types
import durable_memory
sys.modules["durable_memory.cli"] = cli = types.ModuleType("durable_memory.cli")
cli.main = lambda arguments: os.kill(os.getpid(), signal.Signals[sys.argv[1]])
import durable_memory_command
durable_memory_command.main(sys.argv[2:])
"""
"""The program, which is sent a signal when everything is imported and nothing has begun."""


@pytest.mark.parametrize(("command", "code"), [("worker", 0), ("list", -signal.SIGHUP)])
async def test_a_wish_to_reload_during_the_imports_ends_other_commands_alone(command: str, code: int) -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, "SIGHUP", command)
    assert await asyncio.wait_for(process.wait(), 120) == code


async def test_a_worker_asks_for_its_sigterm_from_the_start() -> None:
    """The kernel keeps a signal that is not asked for from the first process of a container, which then runs on."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, "SIGTERM", "worker")
    assert await asyncio.wait_for(process.wait(), 120) == 128 + signal.SIGTERM


async def test_a_signal_during_the_start_ends_it_as_well(start_worker: StartWorker) -> None:
    async with start_worker() as worker:
        await worker.entry(http=None)
        assert await worker.end(signal.SIGTERM) == 0
