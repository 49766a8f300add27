"""A worker with a version, as Temporal's worker controller starts it: the server knows it, and open flushers go on."""

from __future__ import annotations

import asyncio
import signal
import uuid
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.api.deployment.v1 import WorkerDeploymentInfo
from temporalio.api.workflowservice.v1 import DescribeWorkerDeploymentRequest, SetWorkerDeploymentCurrentVersionRequest
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError

from durable_memory import Memory, MemoryClient, Registry
from durable_memory.activities import wire
from durable_memory.activities.waker import TemporalWaker, flusher_id
from durable_memory.memory.stores.values import Batch, FlushOptions
from tests.integration.worker.conftest import StartWorker
from tests.integration.worker.workers import eventually

THREAD: dict[str, object] = {
    "resource": "memory",
    "id": "thread",
    "max_tokens": 600,
    "flushing": {"summary_tokens": 100, "keep_last": 1},
    "scope": "user",
}


class Deployment:
    """A deployment as the server sees it."""

    def __init__(self, client: Client) -> None:
        self.name = f"memory-{uuid.uuid4().hex[:12]}"
        self._client = client

    def environment(self, build_id: str) -> dict[str, str]:
        """What the controller sets."""
        return {"TEMPORAL_DEPLOYMENT_NAME": self.name, "TEMPORAL_WORKER_BUILD_ID": build_id}

    async def info(self) -> WorkerDeploymentInfo:
        """What the server knows."""
        request = DescribeWorkerDeploymentRequest(namespace=self._client.namespace, deployment_name=self.name)
        return (await self._client.workflow_service.describe_worker_deployment(request)).worker_deployment_info

    async def make_current(self, build_id: str) -> None:
        """Sends new work, and what goes on, to this version."""
        request = SetWorkerDeploymentCurrentVersionRequest(
            namespace=self._client.namespace, deployment_name=self.name, build_id=build_id, identity="controller"
        )

        async def accepted() -> bool:
            try:
                await self._client.workflow_service.set_worker_deployment_current_version(
                    request, timeout=timedelta(seconds=5)
                )
            except RPCError:
                return False  # the server learns of pollers with a delay
            return True

        await eventually(accepted)


@pytest.fixture
def deployment(temporal_client: Client) -> Deployment:
    return Deployment(temporal_client)


@pytest.fixture
async def memories(redis_url: str, project: str) -> AsyncIterator[MemoryClient]:
    registry = Registry.from_resources([THREAD])
    async with await MemoryClient.connect(redis_url, memories=registry, project=project) as client:
        yield client


@pytest.fixture
async def memory(memories: MemoryClient) -> Memory:
    """A memory of the worker's project that is due."""
    memory = memories.memory("thread", "user:1")
    result = await memory.append([f"{number} The parcel left the depot in the morning. " * 8 for number in range(6)])
    assert result.flush_due
    return memory


async def woken(client: Client, queue: str, memory: Memory) -> WorkflowHandle[object, object]:
    await TemporalWaker(client, queue).tell(memory.id)
    return client.get_workflow_handle(flusher_id(memory.id))


async def version_of(handle: WorkflowHandle[object, object]) -> str:
    described = (await handle.describe()).raw_description.workflow_execution_info.versioning_info
    return described.deployment_version.build_id


async def test_its_version_is_known_to_the_server_and_flushes_once_it_is_current(
    start_worker: StartWorker, temporal_client: Client, project: str, deployment: Deployment, memory: Memory
) -> None:
    async with start_worker(**deployment.environment("build-1")) as worker:
        await worker.ready()
        entry = await worker.entry(deployment_version=None)
        assert entry["deployment_version"] == f"{deployment.name}.build-1"
        summaries = (await deployment.info()).version_summaries
        assert [summary.deployment_version.build_id for summary in summaries] == ["build-1"]
        await deployment.make_current("build-1")
        flusher = await woken(temporal_client, project, memory)
        await flusher.result()
        assert await version_of(flusher) == "build-1"
    assert (await memory.stats()).messages["long_term"] == 1


async def test_slow_summaries_of_a_version_are_written_on_their_own_queue(
    start_worker: StartWorker,
    folder: Path,
    temporal_client: Client,
    project: str,
    deployment: Deployment,
    memory: Memory,
) -> None:
    (folder / "brief.py").write_text(
        "class Brief:\n"
        "    max_input_tokens = None\n"
        "    async def summarize(self, request):\n"
        "        return f'My words on {len(request.messages)} messages.'\n"
    )
    async with start_worker("--summarizer", "brief:Brief", **deployment.environment("build-1")) as worker:
        await worker.ready()
        await deployment.make_current("build-1")
        flusher = await woken(temporal_client, project, memory)
        async with asyncio.timeout(120):
            await flusher.result()
        queues = {
            event.activity_task_scheduled_event_attributes.task_queue.name
            for event in (await flusher.fetch_history()).events
            if event.activity_task_scheduled_event_attributes.activity_type.name == wire.FLUSH_SUMMARIZE
        }
        assert queues == {f"{project}-summaries"}
    assert "My words on" in (await memory.read()).messages[0].text


async def test_a_flusher_that_an_older_version_began_is_finished_by_the_current_one(
    start_worker: StartWorker,
    temporal_client: Client,
    project: str,
    deployment: Deployment,
    memories: MemoryClient,
    memory: Memory,
) -> None:
    declared = memories.registry.memory("thread")
    flush = memories.parts.services(declared).flush
    another = await flush.begin(memory.id, "another", declared.limits(), FlushOptions(), attempt_ends_ms=2**52)
    assert isinstance(another, Batch)
    async with start_worker(**deployment.environment("build-1")) as old:
        await old.ready()
        await deployment.make_current("build-1")
        # A worker may take longer to start than the lease lasts.
        assert await memories.parts.services(declared).store.renew(memory.id, another, declared.limits())
        flusher = await woken(temporal_client, project, memory)
        await eventually(lambda: waits(flusher))
        assert await version_of(flusher) == "build-1"
        assert await old.end(signal.SIGTERM) == 0
    await flush.fail(memory.id, another, error_type="Cancelled", retry_after_ms=0)
    async with start_worker(**deployment.environment("build-2")) as new:
        await new.ready()
        await deployment.make_current("build-2")
        await flusher.result()
        assert await version_of(flusher) == "build-2"
    assert (await memory.stats()).messages["long_term"] == 1


async def waits(flusher: WorkflowHandle[object, object]) -> bool:
    """Whether the flusher waits for the lease of another."""
    return any([event.HasField("timer_started_event_attributes") async for event in flusher.fetch_history_events()])


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ("TEMPORAL_DEPLOYMENT_NAME", "TEMPORAL_WORKER_BUILD_ID"),
        ("TEMPORAL_WORKER_BUILD_ID", "TEMPORAL_DEPLOYMENT_NAME"),
    ],
)
async def test_half_a_version_is_one_sentence_that_names_the_other_half(
    start_worker: StartWorker, given: str, missing: str
) -> None:
    async with start_worker(**{given: "something"}) as worker:
        assert await worker.end() == 1
        (line,) = worker.log_text().splitlines()
        assert line.startswith(f"Error: {missing}: is not set, but {given} is; ")
