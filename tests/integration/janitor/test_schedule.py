"""The schedule of the janitor: ensured by plugin and worker, brought up to date, and no reason to fail without it."""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import (
    Client,
    CreateScheduleInput,
    Interceptor,
    OutboundInterceptor,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleDescription,
    ScheduleHandle,
    ScheduleOverlapPolicy,
    WorkflowFailureError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from durable_memory import MemoryClient
from durable_memory.activities import wire
from durable_memory.running.janitor_schedule import ensure_janitor, schedule_id
from durable_memory.workflows.janitor import MemoryJanitor
from tests.integration.janitor.sweeping import Sweeper, appended, sweeper
from tests.integration.temporal.flows.conversations import CONVERSATIONS
from tests.integration.temporal.flows.endings import ENDINGS, End
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import REGISTRY, Rig, plugin, unique
from tests.logs import said_by

OFTEN = timedelta(seconds=1)
SELDOM = timedelta(hours=12)


@pytest.fixture
async def project(temporal_client: Client) -> AsyncIterator[str]:
    """A project whose schedule is deleted at the end."""
    name = unique("project")
    yield name
    await temporal_client.get_schedule_handle(schedule_id(name)).delete()


async def described(client: Client, project: str) -> ScheduleDescription:
    return await client.get_schedule_handle(schedule_id(project)).describe()


def action_of(description: ScheduleDescription) -> ScheduleActionStartWorkflow:
    action = description.schedule.action
    assert isinstance(action, ScheduleActionStartWorkflow)
    return action


def interval_of(description: ScheduleDescription) -> timedelta:
    [interval] = description.schedule.spec.intervals
    return interval.every


async def test_the_schedule_is_created_and_skips_a_run_while_another_one_works(
    temporal_client: Client, project: str
) -> None:
    await ensure_janitor(temporal_client, project=project, task_queue="queue-1", interval=SELDOM)
    description = await described(temporal_client, project)
    action = action_of(description)
    assert (action.workflow, action.task_queue, interval_of(description)) == (wire.JANITOR, "queue-1", SELDOM)
    assert await temporal_client.data_converter.decode(action.args) == [{"project": project}]
    assert description.schedule.policy.overlap is ScheduleOverlapPolicy.SKIP


async def test_the_schedule_is_updated_when_something_differs_and_only_then(
    temporal_client: Client, project: str
) -> None:
    await ensure_janitor(temporal_client, project=project, task_queue="queue-1", interval=SELDOM)
    await ensure_janitor(temporal_client, project=project, task_queue="queue-1", interval=SELDOM)
    assert (await described(temporal_client, project)).info.last_updated_at is None
    await ensure_janitor(temporal_client, project=project, task_queue="queue-1", interval=2 * SELDOM)
    assert interval_of(await described(temporal_client, project)) == 2 * SELDOM
    await ensure_janitor(temporal_client, project=project, task_queue="queue-2", interval=2 * SELDOM)
    assert action_of(await described(temporal_client, project)).task_queue == "queue-2"


async def test_a_schedule_that_somebody_paused_stays_paused(temporal_client: Client, project: str) -> None:
    await ensure_janitor(temporal_client, project=project, task_queue="queue-1", interval=SELDOM)
    await temporal_client.get_schedule_handle(schedule_id(project)).pause(note="while we look")
    await ensure_janitor(temporal_client, project=project, task_queue="queue-2", interval=SELDOM)
    state = (await described(temporal_client, project)).schedule.state
    assert (state.paused, state.note) == (True, "while we look")


async def test_a_server_without_schedules_is_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    program = str(Path(sys.executable).with_name("temporal-test-server"))
    async with await WorkflowEnvironment.start_time_skipping(test_server_existing_path=program) as server:
        with caplog.at_level(logging.WARNING, logger="durable_memory"):
            await ensure_janitor(server.client, project="any", task_queue="queue", interval=SELDOM)
    [record] = said_by(caplog, ensure_janitor.__module__)
    assert "UNIMPLEMENTED" in record.getMessage()


class Forbids(Interceptor):
    """A server that gives this client no right to schedules."""

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        """See base class."""
        return _Forbidding(next)


class _Forbidding(OutboundInterceptor):
    async def create_schedule(self, input: CreateScheduleInput) -> ScheduleHandle:  # noqa: ARG002 - nothing is made
        raise RPCError("not allowed", RPCStatusCode.PERMISSION_DENIED, b"")


async def test_a_client_without_the_right_to_schedules_works_all_the_same(
    temporal_address: str, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    name = unique("project")
    with caplog.at_level(logging.WARNING, logger="durable_memory"):
        async with embedded(temporal_address, redis_url, name, interceptors=[Forbids()], janitor=True) as client:
            await client.execute_workflow(
                End.run, args=["scratch", "key", "return"], id=unique("run"), task_queue=f"users-of-{name}"
            )
    [record] = said_by(caplog, ensure_janitor.__module__)
    assert "PERMISSION_DENIED" in record.getMessage()


@asynccontextmanager
async def embedded(
    temporal_address: str, redis_url: str, project: str, *, interceptors: Any = (), **options: Any
) -> AsyncIterator[Client]:
    """A user's own worker with the plugin and its companion."""
    client = await Client.connect(
        temporal_address, plugins=[plugin(redis_url, project, **options)], interceptors=interceptors
    )
    async with Worker(client, task_queue=f"users-of-{project}", workflows=[*CONVERSATIONS, *ENDINGS]):
        yield client


async def test_a_plugin_ensures_the_schedule_only_if_it_is_asked_to(temporal_address: str, redis_url: str) -> None:
    name = unique("project")
    async with embedded(temporal_address, redis_url, name) as client:
        await client.execute_workflow(
            End.run, args=["scratch", "key", "return"], id=unique("run"), task_queue=f"users-of-{name}"
        )
        with pytest.raises(RPCError) as caught:
            await described(client, name)
        assert caught.value.status is RPCStatusCode.NOT_FOUND


async def test_the_scheduled_janitor_finishes_what_a_terminated_workflow_left(
    temporal_address: str, redis_url: str, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DURABLE_MEMORY_JANITOR_INTERVAL", "1s")
    async with embedded(temporal_address, redis_url, project, janitor=True) as client:
        async with observed(client, redis_url, project) as seen:
            handle = await seen.rig.start(End.run, "scratch", "key", "wait")
            await appended(seen.rig, "scratch", "key")
            await handle.terminate()
            await seen.nothing_is_left("scratch", "key", handle.id)
        assert interval_of(await described(client, project)) == OFTEN


@asynccontextmanager
async def observed(client: Client, redis_url: str, project: str) -> AsyncIterator[Sweeper]:
    """The memories of an embedded worker, from outside."""
    async with await MemoryClient.connect(redis_url, memories=REGISTRY, project=project) as memories:
        rig = Rig(client, memories, f"users-of-{project}", f"flushes-of-{project}")
        async with sweeper(rig, redis_url) as seen:
            yield seen


class Parts:
    """Stands for the sweep where only the workflow is looked at: it never comes to the end."""

    def __init__(self) -> None:
        self.began_at: list[str | None] = []
        self.fails = False

    @activity.defn(name=wire.SWEEP)
    async def sweep(self, request: dict[str, Any]) -> dict[str, Any]:
        """Goes one step on."""
        self.began_at.append(request["position"])
        if self.fails:
            raise ApplicationError("a position that breaks", non_retryable=True)
        return {"position": str(len(self.began_at)), "counts": {"owners": 2, "released": 1}}


async def test_a_run_is_bounded_and_the_next_one_goes_on_where_it_stopped(
    temporal_client: Client, project: str
) -> None:
    parts, queue = Parts(), unique("queue")
    await ensure_janitor(temporal_client, project=project, task_queue=queue, interval=SELDOM)
    schedule = temporal_client.get_schedule_handle(schedule_id(project))

    async def idle() -> bool:
        return not (await schedule.describe()).info.running_actions

    async def run(number: int) -> str:
        await eventually(idle)  # it would skip a run beside another one
        await schedule.trigger()

        async def look() -> str | None:
            actions = (await schedule.describe()).info.recent_actions
            if len(actions) < number:
                return None
            action = actions[number - 1].action
            assert isinstance(action, ScheduleActionExecutionStartWorkflow)
            return action.workflow_id

        return str(await eventually(look))

    async with Worker(temporal_client, task_queue=queue, workflows=[MemoryJanitor], activities=[parts.sweep]):
        first = temporal_client.get_workflow_handle(await run(1))
        assert await first.result() == {"position": "12", "counts": {"owners": 24, "released": 12}}
        assert parts.began_at == [None, *map(str, range(1, 12))]
        assert (await first.describe()).history_length < 100
        second = temporal_client.get_workflow_handle(await run(2))
        assert (await second.result())["position"] == "24"
        assert parts.began_at[12] == "12"
        parts.fails = True
        with pytest.raises(WorkflowFailureError):
            await temporal_client.get_workflow_handle(await run(3)).result()
        assert parts.began_at[24] == "24"
        parts.fails = False
        await temporal_client.get_workflow_handle(await run(4)).result()
        assert parts.began_at[25] is None
