"""A worker whose declarations change while it serves: the new ones hold from then on, and no call fails for it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from temporalio.client import Client

from durable_memory import MemoryClient, Registry
from tests.integration.worker.calling import Caller, calling
from tests.integration.worker.conftest import StartWorker
from tests.integration.worker.workers import WorkerProcess, eventually

THREAD = "resource: memory\nid: thread\nmax_tokens: {budget}\nscope: user\nflushing: {{type: drop, keep_last: 0}}\n"
OTHER = "resource: memory\nid: {name}\nmax_tokens: 1000\nscope: user\n"


@asynccontextmanager
async def appending(caller: Caller) -> AsyncIterator[list[int]]:
    """Appends to `thread` all the time; yields the numbers that were acknowledged. A failure comes out at the end."""
    acknowledged: list[int] = []
    ended = asyncio.Event()

    async def go_on(first: int) -> None:
        number = first
        while not ended.is_set():
            answer = await caller.append("thread", "k", str(number))
            assert len(answer["ids"]) == 1
            acknowledged.append(number)
            number += 4

    running = [asyncio.create_task(go_on(first)) for first in range(4)]
    try:
        yield acknowledged
    finally:
        ended.set()
        await asyncio.gather(*running)


async def reloaded(worker: WorkerProcess, *, times: int) -> None:
    """Waits until the log tells of so many successful reloads."""

    async def is_so() -> bool:
        return worker.log_text().count("the declarations were read again") >= times

    await eventually(is_so)


async def test_declarations_change_under_load_and_no_call_fails_and_no_data_goes(
    start_worker: StartWorker, folder: Path, project: str, redis_url: str, temporal_client: Client
) -> None:
    file, other = folder / "memories" / "declared.yaml", folder / "memories" / "other.yaml"
    file.write_text(THREAD.format(budget=100_000))
    other.write_text(OTHER.format(name="removed"))
    async with (
        start_worker(DURABLE_MEMORY_RELOAD_INTERVAL="off") as worker,
        calling(temporal_client, project) as caller,
    ):
        await worker.ready()
        await caller.append("removed", "k", "stays")
        async with appending(caller) as acknowledged:
            for times, name in enumerate(("removed", "added", "added"), 1):
                other.write_text(OTHER.format(name=name))
                file.write_text(THREAD.format(budget=100_000 + times))
                worker.process.send_signal(signal.SIGHUP)
                await reloaded(worker, times=times)
            assert (await caller.append("added", "k", "new"))["messages"] == 1
            file.write_text(THREAD.format(budget=100_000) + "max_tokenz: 5\n")
            worker.process.send_signal(signal.SIGHUP)
            await worker.text("declared.yaml:6: max_tokenz: is not a field here; did you mean 'max_tokens'?")
            kept = "faults in the declarations: 1; the last good declarations stay in force"
            await worker.answers("/readyz", 200, f"ready\n{kept}\n")
            count = len(acknowledged)

            async def goes_on() -> bool:
                return len(acknowledged) >= count + 8

            await eventually(goes_on)
            file.write_text(THREAD.format(budget=100_000))
            worker.process.send_signal(signal.SIGHUP)
            await reloaded(worker, times=4)
            await worker.answers("/readyz", 200)
            assert kept not in (await worker.get("/readyz"))[1]
        assert await worker.end(signal.SIGTERM) == 0
    assert "removed: removed; what was stored stays" in worker.log_text()
    registry = Registry.from_resources([{"resource": "memory", "id": "thread", "max_tokens": 100_000, "scope": "user"}])
    async with await MemoryClient.connect(redis_url, memories=registry, project=project) as client:
        view = await client.memory("thread", "k").read()
        assert sorted(int(message.text) for message in view.messages) == sorted(acknowledged)
        assert [memory.key async for memory in client.list_memories("removed")] == ["k"]


async def test_encryption_that_is_required_later_is_refused_without_keys_and_the_worker_goes_on(
    start_worker: StartWorker, folder: Path, project: str, temporal_client: Client
) -> None:
    file = folder / "memories" / "declared.yaml"
    file.write_text(THREAD.format(budget=1000))
    async with (
        start_worker(DURABLE_MEMORY_RELOAD_INTERVAL="off") as worker,
        calling(temporal_client, project) as caller,
    ):
        await worker.ready()
        added = OTHER.format(name="sealed") + "privacy_policy: {require_encryption: true}\n"
        file.write_text(THREAD.format(budget=1000) + "---\n" + added)
        worker.process.send_signal(signal.SIGHUP)
        refused = "the last good declarations stay in force: sealed: privacy_policy.require_encryption is true"
        await worker.text(refused)
        status, body = await worker.get("/readyz")
        assert (status, body.startswith(f"ready\n{refused}")) == (200, True)
        assert 'memory_reloads_total{outcome="failed"} 1' in (await worker.get("/metrics"))[1]
        assert (await caller.append("thread", "k", "goes on"))["messages"] == 1
        file.write_text(THREAD.format(budget=1000) + "---\n" + OTHER.format(name="sealed"))
        worker.process.send_signal(signal.SIGHUP)
        await reloaded(worker, times=1)
        assert (await caller.append("sealed", "k", "new"))["messages"] == 1


async def test_a_changed_file_is_noticed_without_a_signal(
    start_worker: StartWorker, folder: Path, project: str, temporal_client: Client
) -> None:
    file = folder / "memories" / "declared.yaml"
    file.write_text(THREAD.format(budget=1000))
    async with (
        start_worker(DURABLE_MEMORY_RELOAD_INTERVAL="1s") as worker,
        calling(temporal_client, project) as caller,
    ):
        await worker.ready()
        file.write_text(THREAD.format(budget=1000) + "---\n" + OTHER.format(name="added"))
        await reloaded(worker, times=1)
        assert (await caller.append("added", "k", "new"))["messages"] == 1
        assert 'memory_reloads_total{outcome="ok"} 1' in (await worker.get("/metrics"))[1]
