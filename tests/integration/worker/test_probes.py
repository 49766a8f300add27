"""/livez, /readyz and /metrics say what is true at the moment."""

from __future__ import annotations

import asyncio
import signal
import socket
from pathlib import Path

import psutil
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import CollectorRegistry
from redis.asyncio import Redis
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory.dev import Valkey, start_temporal
from durable_memory.memory.clock import SystemClock
from durable_memory.memory.errors import MemoryDamaged
from durable_memory.memory.stores.in_memory.store import InMemoryStore
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.memory.task_queues import summaries_queue
from durable_memory.worker.metrics import WorkerMetrics
from durable_memory.worker.readiness import Readiness
from tests.integration.worker.calling import CallByName
from tests.integration.worker.conftest import StartWorker
from tests.integration.worker.workers import WorkerProcess, eventually
from tests.ports import quiet_ports


async def raw(worker: WorkerProcess, request: bytes) -> bytes:
    """Sends bytes to the HTTP endpoint and returns all that comes back."""
    host, port = (await worker.entry(http=None))["http"].removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer


async def test_ready_only_while_redis_answers_and_takes_writes(start_worker: StartWorker, own_valkey: Valkey) -> None:
    async with start_worker(REDIS_URL=own_valkey.url) as worker:
        await worker.ready()
        redis = psutil.Process(own_valkey.server.pid)
        redis.suspend()
        await worker.answers("/readyz", 503, f"Redis at {own_valkey.url} cannot be reached: no answer within 2 s")
        assert (await worker.get("/livez"))[0] == 200
        redis.resume()
        await worker.ready()
        async with Redis.from_url(own_valkey.url) as raw:
            await raw.config_set("maxmemory", 1)
            await worker.answers("/readyz", 503, "is out of memory")
            await raw.config_set("maxmemory", 0)
        await worker.ready()


async def test_a_redis_that_is_gone_is_named_with_the_reason_and_without_its_password(
    start_worker: StartWorker, own_valkey: Valkey
) -> None:
    async with start_worker(REDIS_URL=own_valkey.url.replace("://", "://default:hush-hush@")) as worker:
        await worker.ready()
        psutil.Process(own_valkey.server.pid).kill()
        await worker.answers("/readyz", 503, f"Redis at {own_valkey.url} cannot be reached: connection refused; ")
        assert "hush" not in (await worker.get("/readyz"))[1]


async def test_ready_only_while_temporal_sees_the_worker_poll(start_worker: StartWorker, folder: Path) -> None:
    (port,) = quiet_ports(1)
    temporal = await start_temporal(folder / "temporal", port=port, ui=False)
    async with start_worker(TEMPORAL_ADDRESS=temporal.address) as worker:
        await worker.ready()
        temporal.server.kill()
        await worker.answers("/readyz", 503, "Temporal does not answer")
        again = await start_temporal(folder / "temporal", port=port, ui=False)
        await worker.ready()
        assert await worker.end(signal.SIGTERM) == 0
        again.server.kill()


@activity.defn
async def idle() -> None:
    """What a worker that only polls has to offer."""


async def test_ready_only_while_each_queue_of_the_project_is_polled_by_this_worker(
    temporal_address: str, redis_url: str, project: str
) -> None:
    summaries = summaries_queue(project)
    client, of_another = [await Client.connect(temporal_address, identity=f"{project}-{name}") for name in "ab"]
    backend = await connect_redis(redis_url)
    metrics = WorkerMetrics(CollectorRegistry(), MeterProvider())
    readiness = Readiness(backend.store, client, project, metrics, notes=tuple)

    async def answers(status: int, words: str) -> None:
        async def is_so() -> bool:
            answer = await readiness.readyz()
            return (answer.status, answer.body.decode()) == (status, f"{words}\n")

        await eventually(is_so)

    await answers(503, f"the worker does not poll {project} and {summaries} yet")
    async with (
        Worker(client, task_queue=project, workflows=[CallByName], activities=[idle]),
        Worker(of_another, task_queue=summaries, activities=[idle]),
    ):
        await answers(503, f"the worker does not poll {summaries} yet")
        async with Worker(client, task_queue=summaries, activities=[idle]):
            await answers(200, "ready")
    await backend.store.close()


class DamagedStore(InMemoryStore):
    """Fails at once, and not for want of a connection."""

    async def ping(self) -> None:
        raise MemoryDamaged("what stands there is not ours")


async def test_a_question_that_fails_leaves_no_other_one_behind(temporal_client: Client, project: str) -> None:
    metrics = WorkerMetrics(CollectorRegistry(), MeterProvider())
    readiness = Readiness(DamagedStore(SystemClock()), temporal_client, project, metrics, notes=tuple)
    before = asyncio.all_tasks()
    with pytest.raises(MemoryDamaged):
        await readiness.readyz()
    assert asyncio.all_tasks() - before == set()


async def test_the_address_of_the_endpoint_is_chosen_by_flag_or_environment(start_worker: StartWorker) -> None:
    for_flag, for_environment = quiet_ports(2)
    async with start_worker("--http-port", str(for_flag), DURABLE_MEMORY_HTTP_PORT=str(for_environment)) as worker:
        assert (await worker.entry(http=None))["http"] == f"http://127.0.0.1:{for_flag}"
    async with start_worker("--http-host", "127.0.0.2", DURABLE_MEMORY_HTTP_PORT=str(for_environment)) as worker:
        assert (await worker.entry(http=None))["http"] == f"http://127.0.0.2:{for_environment}"
        assert (await worker.get("/livez"))[0] == 200


async def test_a_port_that_is_taken_is_one_sentence(start_worker: StartWorker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        async with start_worker("--http-port", str(taken.getsockname()[1])) as worker:
            assert await worker.end() == 1
            assert (
                worker.log_text()
                .splitlines()[-1]
                .startswith("Error: DURABLE_MEMORY_HTTP_HOST, DURABLE_MEMORY_HTTP_PORT: 127.0.0.1:")
            )


async def test_strange_requests_are_answered_and_harm_nothing(start_worker: StartWorker) -> None:
    async with start_worker() as worker:
        assert (await worker.get("/nothing-here"))[0] == 404
        assert (await worker.get("/livez?verbose=1"))[0] == 200
        assert (await raw(worker, b"POST /livez HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 405 ")
        head = await raw(worker, b"HEAD /livez HTTP/1.1\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        assert head.endswith(b"\r\n\r\n")
        assert (await raw(worker, b"GET /livez HTTP/1.1\r\nX: " + b"a" * 40_000)).startswith(b"HTTP/1.1 400 ")
        assert (await raw(worker, b"\xff\xfe nonsense")).startswith(b"HTTP/1.1 400 ")
        assert (await worker.get("/livez"))[0] == 200
        assert await worker.end(signal.SIGTERM) == 0
