"""Where histories are recorded: a worker of a project's own queue, which runs our workflows and those of users."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from durable_memory import Memory, MemoryClient, MemoryPlugin, Registry
from durable_memory.activities.waker import TemporalWaker, flusher_id
from durable_memory.dev import start_valkey
from durable_memory.dev.temporal import find_program
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.summarizer import SummaryRequest
from tests.histories.flows import FLOWS, RESOURCE
from tests.integration.temporal.user_activities import USER_ACTIVITIES

REGISTRY: Final = Registry.from_resources(
    [
        {"resource": "memory", "id": RESOURCE, "max_tokens": 4000, "scope": "temp"},
        {
            "resource": "memory",
            "id": "small",
            "max_tokens": 200,
            "scope": "user",
            "flushing": {"summarize_threshold": 0.5, "target_ratio": 0.2, "summary_tokens": 40, "keep_last": 1},
            "locking": {"flush_ttl": "1s"},
        },
    ]
)
PROJECT: Final = "stored"
QUEUE: Final = "stored-queue"
IDENTITY: Final = "recorder"
_EVENTS_OF_A_RUN: Final = 36
"""The server suggests to continue as new from here on: more than the events of one flush, fewer than those of two."""

Runs: TypeAlias = Mapping[str, WorkflowHandle[Any, Any]]
"""Runs by the names of their histories."""


class Summaries:
    """Writes summaries by the rules; a scene may hold them, or make them fail for good."""

    max_input_tokens: int | None = None

    def __init__(self) -> None:
        self.failing = False
        self.gate = asyncio.Event()
        self.gate.set()
        self._rules = RuleBasedSummarizer()

    async def summarize(self, request: SummaryRequest) -> str:
        """See Summarizer."""
        if self.failing:
            raise MemoryInvalid("the model refuses this text")
        await self.gate.wait()
        return await self._rules.summarize(request)


@dataclass(frozen=True)
class Stage:
    """Servers and a worker; memories is a client that wakes nobody."""

    client: Client
    memories: MemoryClient
    summaries: Summaries

    async def start(self, workflow: Any, *args: Any, name: str) -> WorkflowHandle[Any, Any]:
        """Starts a workflow of a user; returns a handle on this very run."""
        handle = await self.client.start_workflow(workflow, args=args, id=name, task_queue=QUEUE)
        return self.run(name, handle.first_execution_run_id)

    def run(self, workflow_id: str, run_id: str | None) -> WorkflowHandle[Any, Any]:
        """Returns a handle on a run that does not follow its chain; without a run id, on the latest."""
        return self.client.get_workflow_handle(workflow_id, run_id=run_id)

    async def latest(self, workflow_id: str) -> WorkflowHandle[Any, Any]:
        """Returns a handle on the latest run, once it has ended."""
        handle = self.client.get_workflow_handle(workflow_id)
        await handle.result()
        return self.run(workflow_id, (await handle.describe()).run_id)

    async def wake(self, memory: Memory) -> WorkflowHandle[Any, Any]:
        """Signals the flusher of a memory, as an append does; returns a handle on the run that has it."""
        await TemporalWaker(self.client, QUEUE).tell(memory.id)
        flusher = flusher_id(memory.id)
        return self.run(flusher, (await self.client.get_workflow_handle(flusher).describe()).run_id)


@asynccontextmanager
async def stage() -> AsyncIterator[Stage]:
    """Starts servers of its own, and stops them."""
    summaries = Summaries()
    with tempfile.TemporaryDirectory(prefix="durable-memory-histories-") as folder:
        valkey = await start_valkey(Path(folder))
        try:
            async with await WorkflowEnvironment.start_local(
                dev_server_existing_path=str(find_program()),
                dev_server_log_level="error",
                dev_server_extra_args=[
                    "--dynamic-config-value",
                    f"limit.historyCount.suggestContinueAsNew={_EVENTS_OF_A_RUN}",
                ],
            ) as server:
                plugin = MemoryPlugin(
                    redis_url=valkey.url, memories=REGISTRY, project=PROJECT, task_queue=QUEUE, summarizer=summaries
                )
                client = await Client.connect(
                    server.client.service_client.config.target_host, plugins=[plugin], identity=IDENTITY
                )
                worker = Worker(client, task_queue=QUEUE, workflows=FLOWS, activities=USER_ACTIVITIES)
                memories = await MemoryClient.connect(valkey.url, memories=REGISTRY, project=PROJECT)
                async with memories, worker:
                    yield Stage(client, memories, summaries)
        finally:
            valkey.server.kill()


async def failed(handle: WorkflowHandle[Any, Any]) -> None:
    """Waits until a run has failed or was cancelled."""
    with pytest.raises(WorkflowFailureError):
        await handle.result()


async def activity_runs(handle: WorkflowHandle[Any, Any], activity: str) -> bool:
    """Whether a worker has taken an activity of this type."""
    pending = (await handle.describe()).raw_description.pending_activities
    return any(
        each.activity_type.name == activity and each.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
        for each in pending
    )


async def has_event(handle: WorkflowHandle[Any, Any], attributes: str) -> bool:
    """Whether the history holds an event with attributes of this name."""
    return any([event.HasField(attributes) async for event in handle.fetch_history_events()])  # type: ignore[arg-type] # a name of the protocol
