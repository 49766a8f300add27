"""Workers of one queue with different declarations, as while a new version is rolled out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from redis.asyncio import Redis
from temporalio import activity, workflow
from temporalio.api.failure.v1 import Failure
from temporalio.client import Client, WorkflowHandle
from temporalio.common import RetryPolicy

from durable_memory import AgentMemory, MemoryClient, MemoryUnknownResource, Registry, current_memory_client
from durable_memory.activities.rollout import judged_by_all, queue_name
from durable_memory.memory.stores.redis.arguments import mark_of
from durable_memory.testing import MemoryActivityEnvironment
from tests.integration.temporal.observing import eventually, fault_of
from tests.integration.temporal.rig import plugin, unique, worker

DESK = {"resource": "memory", "id": "desk", "max_tokens": 300, "scope": "user"}
CLERK = {"resource": "agent", "id": "clerk", "memories": [{"id": "desk", "mode": "read-only"}]}
SHARES = {"short_term": 0.7, "long_term": 0.1, "system": 0.1, "user_defined": {"bookings": 0.1}}
OLD = Registry.from_resources([DESK, CLERK])
NEW = Registry.from_resources(
    [
        {**DESK, "max_tokens": 3000, "token_allocation": SHARES},
        {**CLERK, "memories": [{"id": "desk", "mode": "read-write"}]},
        {"resource": "memory", "id": "till", "max_tokens": 300, "scope": "user"},
    ]
)
LONG = "word " * 400


@workflow.defn
class Say:
    """Appends one message to a memory, whose handle is made of these arguments."""

    @workflow.run
    async def run(self, resource: str, options: dict[str, Any], message: str | dict[str, Any]) -> None:
        """See class."""
        quickly = RetryPolicy(backoff_coefficient=1.0)
        await AgentMemory(resource, key="key", activity_config={"retry_policy": quickly}, **options).append(message)


@workflow.defn
class Later:
    """Runs an activity of the test."""

    @workflow.run
    async def run(self) -> int:
        """See class."""
        attempt: int = await workflow.execute_activity(
            "write_later", result_type=int, start_to_close_timeout=timedelta(minutes=1)
        )
        return attempt


async def say(client: Client, queue: str, *arguments: Any) -> WorkflowHandle[Any, Any]:
    """Starts Say."""
    return await client.start_workflow(Say.run, args=arguments, id=unique("run"), task_queue=queue)


@asynccontextmanager
async def a_worker(
    temporal_address: str, redis_url: str, project: str, queue: str, memories: Registry, **options: Any
) -> AsyncIterator[Client]:
    """Runs a worker that has these declarations."""
    client = await Client.connect(temporal_address, plugins=[plugin(redis_url, project, memories=memories)])
    async with worker(client, queue, workflows=[Say], **options):
        yield client


async def refused(handle: WorkflowHandle[Any, Any]) -> Failure:
    """Returns why the activity of a workflow was refused, when that has happened and it is to be tried again."""

    async def look() -> Sequence[Failure]:
        pending = (await handle.describe()).raw_description.pending_activities
        return [one.last_failure for one in pending if one.HasField("last_failure")]

    return (await eventually(look))[0]


@pytest.mark.parametrize(
    ("resource", "options", "message", "refusal"),
    [
        ("till", {}, "Hello.", "MemoryUnknownResource: no memory resource 'till' is declared"),
        ("desk", {}, LONG, "MemoryOversize: desk: messages[0] has"),
        ("desk", {"agent": "clerk"}, "Hello.", "MemoryAccessDenied: desk: agent 'clerk' has declared it read-only"),
        (
            "desk",
            {},
            {"role": "user", "content": "Ritz", "section": "bookings"},
            "MemoryInvalid: desk: messages[0] is for section 'bookings', which the resource does not declare",
        ),
    ],
)
async def test_what_a_worker_of_the_old_version_refuses_waits_for_one_of_the_new(
    temporal_address: str,
    redis_url: str,
    resource: str,
    options: dict[str, Any],
    message: Any,
    refusal: str,
) -> None:
    project, queue = unique("project"), unique("queue")
    place = temporal_address, redis_url, project, queue
    async with a_worker(*place, NEW, no_remote_activities=True) as client:
        async with a_worker(*place, OLD, disable_eager_activity_execution=True):
            handle = await say(client, queue, resource, options, message)
            failure = await refused(handle)
        async with a_worker(*place, NEW):
            await handle.result()
    assert failure.application_failure_info.type == "MemoryWrongWorker"
    assert failure.message.startswith(refusal)
    assert f"another worker of task queue {queue} has other declarations" in failure.message
    async with await MemoryClient.connect(redis_url, memories=NEW, project=project) as memories:
        assert len((await memories.memory(resource, "key").read()).messages) == 1


async def test_a_call_is_refused_for_good_when_the_workers_agree_again(temporal_address: str, redis_url: str) -> None:
    project, queue = unique("project"), unique("queue")
    place = temporal_address, redis_url, project, queue
    async with a_worker(*place, OLD) as client:
        async with a_worker(*place, NEW, no_remote_activities=True):
            handle = await say(client, queue, "tille", {}, "Hello.")
            await refused(handle)
        fault = await fault_of(handle.result())
    assert (fault.type, fault.non_retryable) == ("MemoryUnknownResource", True)


async def test_declarations_that_are_read_again_are_told_at_once(temporal_address: str, redis_url: str) -> None:
    project, queue = unique("project"), unique("queue")
    memories = plugin(redis_url, project, memories=OLD)
    other = await Client.connect(temporal_address, plugins=[memories])
    async with (
        a_worker(temporal_address, redis_url, project, queue, OLD) as client,
        worker(other, queue, workflows=[Say], no_remote_activities=True),
    ):
        memories.use(NEW)
        handle = await say(client, queue, "till", {}, "Hello.")
        await refused(handle)
        await handle.terminate()


async def test_a_handle_that_keeps_declarations_of_before_is_no_reason_to_fail(
    temporal_address: str, redis_url: str
) -> None:
    queue = unique("queue")
    memories = plugin(redis_url, unique("project"), memories=OLD)
    client = await Client.connect(temporal_address, plugins=[memories])
    opened, reloaded = asyncio.Event(), asyncio.Event()

    @activity.defn
    async def write_later() -> int:
        memory = current_memory_client().memory("desk", "key")
        opened.set()
        await reloaded.wait()
        await memory.append(LONG)
        return activity.info().attempt

    async with worker(client, queue, workflows=[Later], activities=[write_later]):
        running = asyncio.create_task(client.execute_workflow(Later.run, id=unique("run"), task_queue=queue))
        await opened.wait()
        memories.use(NEW)
        reloaded.set()
        assert await running == 2


async def test_a_worker_that_cannot_tell_the_others_runs_nevertheless(
    temporal_address: str, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    project, queue = unique("project"), unique("queue")
    mark, _ = mark_of(queue_name("default", queue))
    async with Redis.from_url(redis_url) as redis:
        await redis.set(f"dm:{{{project}}}:fleet:{mark.hex()}", "of somebody else")
    async with a_worker(temporal_address, redis_url, project, queue, OLD) as client:
        await (await say(client, queue, "desk", {}, "Hello.")).result()
        fault = await fault_of((await say(client, queue, "till", {}, "Hello.")).result())
    assert fault.type == "MemoryUnknownResource"
    assert (
        "other workers were not told which declarations this one has: something evicted or changed a key" in caplog.text
    )


async def test_after_many_attempts_it_is_refused_for_good_though_workers_differ(redis_url: str) -> None:
    async with await MemoryClient.connect(redis_url, memories=OLD, project=unique("project")) as memories:
        parts, info = memories.parts, MemoryActivityEnvironment(memories).info
        assert parts.fleet is not None
        await parts.fleet.tell(parts.project, queue_name(info.namespace, info.task_queue), "other", "new", 60_000)
        fault, declared = MemoryUnknownResource("no memory resource 'till' is declared"), OLD.fingerprint
        judged = [await judged_by_all(fault, declared, parts, replace(info, attempt=attempt)) for attempt in (600, 601)]
    assert [one.type for one in judged] == ["MemoryWrongWorker", "MemoryUnknownResource"]
