"""Memories whose summaries a model writes, on a worker with the plugin."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory import MemoryClient, MemoryPlugin, Registry
from durable_memory.activities.waker import flusher_id
from durable_memory.memory.memory import Memory
from tests.integration.temporal.flows.conversations import CONVERSATIONS
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import Rig, unique

FLUSHING = {"summarize_threshold": 0.8, "target_ratio": 0.4, "summary_tokens": 80, "keep_last": 1}


def declared(resource: str, endpoint: str, **summarizer: Any) -> dict[str, Any]:
    """A small memory whose summaries a model at `endpoint` writes."""
    model = {"type": "llm", "model": "openai:gpt-4o-mini", "endpoint": endpoint, "max_input_tokens": 2_000}
    return {
        "resource": "memory",
        "id": resource,
        "max_tokens": 400,
        "scope": "user",
        "flushing": {**FLUSHING, "summarizer": {**model, **summarizer}},
    }


RULES: dict[str, Any] = {"resource": "memory", "id": "rules", "max_tokens": 400, "scope": "user", "flushing": FLUSHING}


@dataclass(frozen=True)
class Desk(Rig):
    """A rig of these tests."""

    async def flushed(self, memory: Memory) -> None:
        """Waits until the flusher of a memory has ended."""

        async def ended() -> bool:
            status = await self.flusher_status(memory)
            return status not in ("RUNNING", "CONTINUED_AS_NEW", "NEVER")

        await eventually(ended)

    def flusher_of(self, memory: Memory) -> str:
        """The workflow id of a flusher."""
        return flusher_id(memory.id)


@asynccontextmanager
async def desk(
    temporal_address: str, redis_url: str, declarations: Sequence[dict[str, Any]], **options: Any
) -> AsyncIterator[Desk]:
    """Runs a worker on a project of its own."""
    registry, project, queue = Registry.from_resources(declarations), unique("project"), unique("queue")
    flush_queue = f"flushes-of-{project}"
    plugin = MemoryPlugin(redis_url=redis_url, memories=registry, project=project, task_queue=flush_queue, **options)
    client = await Client.connect(temporal_address, plugins=[plugin])
    worker = Worker(client, task_queue=queue, workflows=CONVERSATIONS)
    async with await MemoryClient.connect(redis_url, memories=registry, project=project) as memories, worker:
        yield Desk(client, memories, queue, flush_queue)
