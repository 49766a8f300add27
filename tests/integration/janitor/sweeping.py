"""The janitor under test: swept by hand, or again and again in the background, with ports that a test may bend."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from redis.asyncio import Redis
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest, ResetWorkflowExecutionRequest
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from durable_memory import MemoryClient
from durable_memory.activities.runs import TemporalRuns
from durable_memory.activities.waker import TemporalWaker
from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.identity import MemoryId, WorkflowId
from durable_memory.memory.janitor.chains import Run, Runs
from durable_memory.memory.janitor.sweep import Janitor
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.index_port import Binding, ProjectIndex
from durable_memory.memory.stores.redis.keys import RedisKeys
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import REGISTRY, Rig, unique

Counts = Counter[str]


@dataclass
class BentRuns:
    """The real port, but for what a test has bent."""

    real: Runs
    retention: int | None = None
    fails: Callable[[str | None], bool] = field(default=lambda _: False)
    retention_fails: bool = False

    async def describe(self, workflow: WorkflowId, run_id: str | None = None) -> Run | None:
        """See Runs."""
        if self.fails(run_id):
            raise MemoryUnavailable("Temporal did not say how a workflow goes on (UNAVAILABLE)")
        return await self.real.describe(workflow, run_id)

    async def retention_ms(self, namespace: str) -> int:
        """See Runs."""
        if self.retention_fails:
            raise MemoryUnavailable("Temporal did not say how a workflow goes on (PERMISSION_DENIED)")
        return await self.real.retention_ms(namespace) if self.retention is None else self.retention


@dataclass
class Sweeper:
    """Sweeps the project of a rig; `passes` counts the whole sweeps that have ended."""

    rig: Rig
    client: MemoryClient
    runs: BentRuns
    passes: int = 0
    totals: Counts = field(default_factory=Counter)

    def janitor(self, **ports: Any) -> Janitor:
        """A janitor of its own. ports: client, runs, wake, where they are not the usual ones."""
        waker = TemporalWaker(self.rig.client, self.rig.flush_queue)
        return Janitor(**{"client": self.client, "runs": self.runs, "wake": waker.revive, **ports})

    async def sweep(self, **ports: Any) -> Counts:
        """Sweeps from the first owner to the last memory."""
        janitor, counts = self.janitor(**ports), Counts()
        position: str | None = None
        while True:
            swept = await janitor.sweep(position)
            counts.update(swept.counts)
            position = swept.position
            if position is None:
                break
        self.passes += 1
        self.totals.update(counts)
        return counts

    async def sweep_often(self) -> None:
        """Sweeps again and again, more than once a second."""
        while True:
            await self.sweep()
            await asyncio.sleep(0.3)

    async def swept_twice(self) -> None:
        """Waits for two whole sweeps of the background that begin after this call."""
        wanted = self.passes + 3

        async def look() -> bool:
            return self.passes >= wanted

        await eventually(look)

    def with_ports(self, bend: Callable[[Backend], Backend]) -> MemoryClient:
        """The same memories behind ports that a test has wrapped."""
        backends = {name: bend(backend) for name, backend in self.client.parts.backends.items()}
        return MemoryClient(
            REGISTRY,
            backends,
            project=self.client.project,
            waker=TemporalWaker(self.rig.client, self.rig.flush_queue),
        )

    async def bindings(self, workflow_id: str) -> tuple[Binding, ...]:
        """What is bound to a workflow."""
        return await self.index.bindings(self.client.project, WorkflowId(self.rig.client.namespace, workflow_id))

    @property
    def index(self) -> ProjectIndex:
        """The project's index."""
        return self.client.parts.backends["redis"].index

    async def listed(self, resource: str) -> list[str]:
        """The keys of a resource that the index lists, dead ones too."""
        page = await self.index.memories(self.client.project, resource, None, 1000)
        return [memory.key for memory in page.memories]

    async def swept(self) -> list[MemoryId]:
        """What a sweep looks at."""
        return list((await self.index.registered(self.client.project, None, 1000)).memories)

    async def nothing_is_left(self, resource: str, key: str, workflow_id: str) -> None:
        """Waits until a memory is empty and its workflow is bound to nothing."""

        async def look() -> bool:
            return not await self.rig.texts(resource, key) and not await self.bindings(workflow_id)

        await eventually(look)


@asynccontextmanager
async def sweeper(rig: Rig, redis_url: str) -> AsyncIterator[Sweeper]:
    """Opens what a janitor needs."""
    waker = TemporalWaker(rig.client, rig.flush_queue)
    project = rig.memories.project
    async with await MemoryClient.connect(redis_url, memories=REGISTRY, project=project, waker=waker) as client:
        yield Sweeper(rig, client, BentRuns(TemporalRuns(rig.client)))


async def damage(redis_url: str, memory: MemoryId) -> None:
    """Leaves of a memory what foreign hands might."""
    meta = RedisKeys("dm:").memory(memory).names[0]
    async with Redis.from_url(redis_url) as raw:
        await raw.delete(meta)
        await raw.hset(meta, "what", "somebody else keeps here")


async def appended(rig: Rig, resource: str, key: str, messages: int = 1) -> None:
    """Waits until a memory holds so many messages."""

    async def look() -> bool:
        return len(await rig.texts(resource, key)) >= messages

    await eventually(look)


async def latest_run(handle: WorkflowHandle[Any, Any]) -> str:
    """The run that an id stands for now."""
    return str((await handle.describe()).run_id)


async def next_run(handle: WorkflowHandle[Any, Any], after: str) -> str:
    """Waits until another run has begun, and returns its id."""

    async def look() -> str | None:
        run = await latest_run(handle)
        return run if run != after else None

    return str(await eventually(look))


async def reset(rig: Rig, workflow_id: str, run_id: str, event: int) -> None:
    """Resets a run to the end of a workflow task."""
    await rig.client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=rig.client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
            reason="played by a test",
            workflow_task_finish_event_id=event,
            request_id=unique("reset"),
        )
    )


async def delete_for_good(rig: Rig, workflow_id: str) -> None:
    """Makes the namespace forget a closed workflow, as it does at the end of its retention."""
    await rig.client.workflow_service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(
            namespace=rig.client.namespace, workflow_execution=WorkflowExecution(workflow_id=workflow_id)
        )
    )

    async def forgotten() -> bool:
        return await _status_of(rig.client.get_workflow_handle(workflow_id).describe()) is RPCStatusCode.NOT_FOUND

    await eventually(forgotten)


async def _status_of(call: Awaitable[object]) -> RPCStatusCode | None:
    try:
        await call
    except RPCError as error:
        return error.status
    return None
