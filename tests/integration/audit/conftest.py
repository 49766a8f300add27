"""The audit's records, a client for each kind of persistence, and a worker with the plugin."""

from __future__ import annotations

import logging
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory import MemoryClient, MemoryPlugin, MemoryRef, current_memory_client
from durable_memory.memory.operations import audit
from tests.integration.agents.flows import CallByName
from tests.integration.audit.declared import registry
from tests.integration.audit.flows import Remove, RemoveAgain
from tests.integration.audit.recorded import Recorded


def unique(word: str) -> str:
    """Returns a name that no other test has."""
    return f"{word}-{uuid.uuid4().hex[:12]}"


@activity.defn
async def remove_and_break(ref: MemoryRef) -> None:
    """Writes, deletes, clears and restores; its first attempt ends behind that."""
    memory = current_memory_client().memory(ref)
    written = await memory.write(["One.", "Two."])
    await memory.delete(written.ids[:1])
    cleared = await memory.clear(confirm=True, backup=True)
    await memory.restore(str(cleared.backup_id))
    if activity.info().attempt == 1:
        raise RuntimeError("the worker dies here")


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    """What the audit records during a test."""
    handler, logger = Recorded(), logging.getLogger(audit.LOGGER)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture(params=["redis", "in_memory"])
async def client(request: pytest.FixtureRequest, stack: AsyncExitStack, redis_url: str) -> MemoryClient:
    """Each kind of persistence, in a project of the test's own."""
    opened = await MemoryClient.connect(redis_url, memories=registry(request.param), project=unique("audit"))
    return await stack.enter_async_context(opened)


@dataclass(frozen=True)
class Desk:
    """A worker with the plugin, and its memories seen from outside."""

    temporal: Client
    memories: MemoryClient
    queue: str

    @property
    def project(self) -> str:
        """Of this test alone."""
        return self.memories.project

    async def run(self, workflow: Any, *args: Any, **options: Any) -> Any:
        """Runs a workflow on the worker to its end."""
        options = {"id": unique("run"), "task_queue": self.queue, **options}
        return await self.temporal.execute_workflow(workflow, args=args, **options)


@pytest.fixture
async def desk(temporal_address: str, redis_url: str) -> AsyncIterator[Desk]:
    """A worker on a project of the test's own."""
    project, queue = unique("audit"), unique("queue")
    plugin = MemoryPlugin(redis_url=redis_url, memories=registry(), project=project, task_queue=f"flushes-of-{project}")
    temporal = await Client.connect(temporal_address, plugins=[plugin])
    worker = Worker(
        temporal, task_queue=queue, workflows=[Remove, RemoveAgain, CallByName], activities=[remove_and_break]
    )
    async with await MemoryClient.connect(redis_url, memories=registry(), project=project) as memories, worker:
        yield Desk(temporal, memories, queue)
