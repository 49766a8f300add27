"""A running worker with the plugin, and its memories seen from outside."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from temporalio.client import Client, Interceptor, Plugin, WorkflowHandle
from temporalio.converter import DataConverter
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from durable_memory import MemoryClient, MemoryPlugin, Registry
from durable_memory.activities.waker import flusher_id
from durable_memory.memory.flushing.summarizer import Summarizer
from durable_memory.memory.memory import Memory
from tests.integration.temporal.declarations import DECLARATIONS
from tests.integration.temporal.flows.conversations import CONVERSATIONS
from tests.integration.temporal.flows.endings import ENDINGS
from tests.integration.temporal.user_activities import USER_ACTIVITIES

REGISTRY = Registry.from_resources(DECLARATIONS)

CHAT_IN_MEMORY = {
    "resource": "memory",
    "id": "chat",
    "max_tokens": 4000,
    "scope": "user",
    "persistence": {"type": "in_memory"},
}
IN_MEMORY = Registry.from_resources([CHAT_IN_MEMORY])


def unique(word: str) -> str:
    """Returns a name that no other test has."""
    return f"{word}-{uuid.uuid4().hex[:12]}"


@dataclass(frozen=True)
class Rig:
    """client has the plugin; memories is a client of a process without Temporal that sees the same memories."""

    client: Client
    memories: MemoryClient
    queue: str
    flush_queue: str

    async def start(self, workflow: Any, *args: Any, **options: Any) -> WorkflowHandle[Any, Any]:
        """Starts a workflow on the worker."""
        options = {"id": unique("run"), "task_queue": self.queue, **options}
        return await self.client.start_workflow(workflow, args=args, **options)

    async def run(self, workflow: Any, *args: Any, **options: Any) -> Any:
        """Runs a workflow on the worker to its end."""
        return await (await self.start(workflow, *args, **options)).result()

    def memory(self, resource: str, key: str) -> Memory:
        """One memory, from outside."""
        return self.memories.memory(resource, key)

    async def texts(self, resource: str, key: str) -> list[str]:
        """What a memory shows."""
        return [message.text for message in (await self.memory(resource, key).read()).messages]

    def flusher(self, memory: Memory) -> WorkflowHandle[Any, Any]:
        """The flusher of a memory, whether it runs or not."""
        return self.client.get_workflow_handle(flusher_id(memory.id))

    async def flusher_status(self, memory: Memory) -> str:
        """The status of a memory's flusher, or NEVER."""
        try:
            status = (await self.flusher(memory).describe()).status
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return "NEVER"
            raise
        return "UNKNOWN" if status is None else status.name


def plugin(redis_url: str, project: str, **options: Any) -> MemoryPlugin:
    """The plugin as these tests use it; flushers run on a queue of the project's own."""
    given = {
        "redis_url": redis_url,
        "memories": REGISTRY,
        "project": project,
        "task_queue": f"flushes-of-{project}",
        **options,
    }
    return MemoryPlugin(**given)


def worker(client: Client, queue: str, **options: object) -> Worker:
    """Returns a worker as a user makes it."""
    return Worker(
        client,
        task_queue=queue,
        **{"workflows": CONVERSATIONS, "activities": USER_ACTIVITIES, **options},  # type: ignore[arg-type]
    )


@asynccontextmanager
async def running(
    temporal_address: str,
    redis_url: str,
    *,
    registry: Registry = REGISTRY,
    project: str | None = None,
    queue: str | None = None,
    summarizer: Summarizer | None = None,
    interceptors: Sequence[Interceptor] = (),
    data_converter: DataConverter = DataConverter.default,
    cleanup: bool = True,
    plugins: Sequence[Plugin] = (),
    **worker_options: Any,
) -> AsyncIterator[Rig]:
    """Runs a worker, of a project and on a queue of its own unless they are given."""
    project, queue = project or unique("project"), queue or unique("queue")
    client = await Client.connect(
        temporal_address,
        plugins=[plugin(redis_url, project, memories=registry, summarizer=summarizer, cleanup=cleanup), *plugins],
        interceptors=interceptors,
        data_converter=data_converter,
    )
    worker = Worker(
        client,
        task_queue=queue,
        **{"workflows": (*CONVERSATIONS, *ENDINGS), "activities": USER_ACTIVITIES, **worker_options},
    )
    async with await MemoryClient.connect(redis_url, memories=registry, project=project) as memories, worker:
        yield Rig(client, memories, queue, f"flushes-of-{project}")
