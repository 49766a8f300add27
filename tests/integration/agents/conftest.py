"""A client for each kind of persistence, and a worker with the plugin."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory import AgentRef, MemoryClient, MemoryPlugin, Message, Registry, current_memory_client
from durable_memory.activities.caller import ActivityCaller
from tests.integration.agents.declared import declarations
from tests.integration.agents.flows import (
    AskBeforeTheModel,
    CallByName,
    ReadWithAuthors,
    RecordAndBreak,
    TakeATurn,
    UseAs,
)


def unique(word: str) -> str:
    """Returns a name that no other test has."""
    return f"{word}-{uuid.uuid4().hex[:12]}"


PROJECT = unique("agents")


async def _always() -> bool:
    return True


def attempt_of(
    client: MemoryClient, info: activity.Info, is_running: Callable[[], Awaitable[bool]] = _always
) -> MemoryClient:
    """Returns the client of one attempt. is_running: what Temporal says of it."""
    return client.calling_as(ActivityCaller(info, {}, client.parts, is_running))


@activity.defn
async def look_by_reference(reference: AgentRef) -> list[str]:
    """Composes a context in an activity, by reference."""
    return [message.text for message in (await current_memory_client().agent(reference).context()).messages]


@activity.defn
async def record_and_break(user: str) -> list[bool]:
    """Records a turn whose first attempt ends between two memories; each attempt says something else."""
    attempt = activity.info().attempt
    agent = current_memory_client().agent("scribe", input={"user": user})
    turn = [Message.user("Where?"), Message.assistant(f"Answer {attempt}.")]
    if attempt == 1:
        await agent.memories[0].record_turn(turn)
        raise RuntimeError("the worker dies here")
    return [one.result.already_applied for one in (await agent.record_turn(turn)).turns]


@activity.defn
async def ask_before_the_model(user: str) -> list[str]:
    """Records a turn whose first attempt ends between two memories; each attempt asks before it asks its model."""
    agent = current_memory_client().agent("scribe", input={"user": user})
    attempt = activity.info().attempt
    recorded = await agent.recorded_turn()
    turn = recorded.messages if recorded else (Message.user("Where?"), Message.assistant(f"Answer {attempt}."))
    if attempt == 1:
        await agent.memories[0].record_turn(turn)
        raise RuntimeError("the worker dies here")
    stands = await agent.record_turn(turn)
    return [f"asked the model: {recorded is None}", *(message.text for message in stands.messages)]


@pytest.fixture(scope="session")
async def in_redis(redis_url: str) -> AsyncIterator[MemoryClient]:
    """A client of memories in Redis."""
    registry = Registry.from_resources(declarations())
    async with await MemoryClient.connect(redis_url, memories=registry, project=PROJECT) as client:
        yield client


@pytest.fixture(scope="session")
async def in_process() -> AsyncIterator[MemoryClient]:
    """A client of memories in this process."""
    registry = Registry.from_resources(declarations("in_memory"))
    async with await MemoryClient.connect(memories=registry, project=PROJECT) as client:
        yield client


@pytest.fixture(params=["redis", "in_memory"])
def client(in_redis: MemoryClient, in_process: MemoryClient, request: pytest.FixtureRequest) -> MemoryClient:
    """Each kind of persistence."""
    return {"redis": in_redis, "in_memory": in_process}[request.param]


@dataclass(frozen=True)
class Desk:
    """A worker with the plugin, and its memories seen from outside."""

    temporal: Client
    memories: MemoryClient
    queue: str

    async def run(self, workflow: Any, *args: Any) -> Any:
        """Runs a workflow on the worker to its end."""
        return await self.temporal.execute_workflow(workflow, args=args, id=unique("run"), task_queue=self.queue)


@pytest.fixture(scope="session")
async def desk(temporal_address: str, redis_url: str, in_redis: MemoryClient) -> AsyncIterator[Desk]:
    """What the tests of workflows share."""
    registry = Registry.from_resources(declarations())
    plugin = MemoryPlugin(redis_url=redis_url, memories=registry, project=PROJECT, task_queue=unique("flushes"))
    temporal = await Client.connect(temporal_address, plugins=[plugin])
    queue = unique("queue")
    async with Worker(
        temporal,
        task_queue=queue,
        workflows=[UseAs, TakeATurn, RecordAndBreak, AskBeforeTheModel, CallByName, ReadWithAuthors],
        activities=[look_by_reference, record_and_break, ask_before_the_model],
    ):
        yield Desk(temporal, in_redis, queue)
