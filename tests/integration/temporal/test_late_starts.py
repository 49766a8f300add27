"""Activities that begin, or still write, when their operations would be forgotten: a day is two seconds here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from temporalio import activity
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetActivityRequest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ActivityError, ApplicationError

from durable_memory import MemoryRef, Message, current_memory_client
from durable_memory.activities import deadline
from durable_memory.memory.errors import MemoryOperationExpired
from tests.integration.temporal.flows.waiting import AskOne
from tests.integration.temporal.rig import Rig, running, unique

DAY_SECONDS = 2.0

_given_up: dict[str, asyncio.Task[str]] = {}
"""What attempts that have failed left running, by the key of their memory."""


@activity.defn
async def fails_once(ref: MemoryRef) -> str:
    """Records a turn and loses its answer."""
    turn = (
        await current_memory_client()
        .memory(ref)
        .record_turn([Message.user("Where?"), Message.assistant(f"Attempt {activity.info().attempt}.")])
    )
    if activity.info().attempt == 1:
        raise RuntimeError("the worker lost the answer")
    return turn.messages[-1].text


@activity.defn
async def fails_first(ref: MemoryRef) -> str:
    """Fails before it calls the memory."""
    if activity.info().attempt == 1:
        raise RuntimeError("the model is overloaded")
    return f"{len((await current_memory_client().memory(ref).append('written')).ids)} written"


@activity.defn
async def goes_on(ref: MemoryRef) -> str:
    """Writes at its begin and a day later."""
    memory = current_memory_client().memory(ref)
    await memory.append("at hour 0")
    await asyncio.sleep(1.5 * DAY_SECONDS)
    await memory.append("at hour 36")
    return "done"


@activity.defn
async def leaves_a_task(ref: MemoryRef) -> str:
    """Fails and leaves a task behind that writes a day later, as on a machine that stood still."""

    async def write_a_day_later() -> str:
        await asyncio.sleep(1.5 * DAY_SECONDS)
        try:
            await current_memory_client().memory(ref).append("written")
        except MemoryOperationExpired as expired:
            return expired.type
        return "written again"

    assert ref.key is not None
    if activity.info().attempt == 1:
        _given_up[ref.key] = asyncio.create_task(write_a_day_later())
        raise RuntimeError("its worker seems to be dead")
    await current_memory_client().memory(ref).append("written")
    return await _given_up.pop(ref.key)


ACTIVITIES = (fails_once, fails_first, goes_on, leaves_a_task)


@pytest.fixture
def _short_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets two seconds be a day: the servers give all times, and nobody can wait for a real one."""
    monkeypatch.setattr(deadline, "LIFETIME_MS", round(1000 * DAY_SECONDS))
    monkeypatch.setattr(deadline, "LATE_MS", round(500 * DAY_SECONDS))
    monkeypatch.setattr(deadline, "CLOCKS_DIFFER_MS", 0)


@pytest.fixture
async def asking(temporal_address: str, redis_url: str, _short_day: None) -> AsyncIterator[Rig]:
    """A worker of these activities."""
    async with running(temporal_address, redis_url, workflows=[AskOne], activities=ACTIVITIES) as rig:
        yield rig


@pytest.mark.usefixtures("_short_day")
@pytest.mark.parametrize(
    ("name", "answer", "texts"),
    [
        ("fails_once", "Attempt 1.", ["Where?", "Attempt 1."]),
        ("fails_first", "1 written", ["written"]),
    ],
)
async def test_an_activity_that_no_worker_took_in_time_is_run_to_its_end(
    temporal_address: str, redis_url: str, name: str, answer: str, texts: list[str]
) -> None:
    project, queue, key = unique("project"), unique("queue"), unique("key")
    async with running(
        temporal_address, redis_url, project=project, queue=queue, workflows=[AskOne], no_remote_activities=True
    ) as rig:
        handle = await rig.start(AskOne.run, key, name)
        await asyncio.sleep(1.5 * DAY_SECONDS)
    async with running(
        temporal_address, redis_url, project=project, queue=queue, workflows=[AskOne], activities=ACTIVITIES
    ) as rig:
        async with asyncio.timeout(60):
            assert await rig.client.get_workflow_handle(handle.id).result() == answer
        assert await rig.texts("chat", key) == texts


async def test_an_attempt_that_runs_for_more_than_a_day_still_writes(asking: Rig) -> None:
    key = unique("key")
    assert await asking.run(AskOne.run, key, "goes_on") == "done"
    assert await asking.texts("chat", key) == ["at hour 0", "at hour 36"]


async def test_so_does_one_of_an_activity_without_a_workflow(asking: Rig) -> None:
    key = unique("key")
    answer = await asking.client.execute_activity(
        goes_on,
        MemoryRef("chat", key=key),
        id=unique("activity"),
        task_queue=asking.queue,
        start_to_close_timeout=timedelta(minutes=1),
    )
    assert answer == "done"
    assert await asking.texts("chat", key) == ["at hour 0", "at hour 36"]


async def test_what_an_attempt_that_has_failed_left_running_doubles_nothing_a_day_later(asking: Rig) -> None:
    key = unique("key")
    assert await asking.run(AskOne.run, key, "leaves_a_task") == "MemoryOperationExpired"
    assert await asking.texts("chat", key) == ["written"]


async def test_an_activity_that_an_operator_resets_a_day_later_passes_for_no_first_attempt(asking: Rig) -> None:
    key = unique("key")
    handle = await asking.start(AskOne.run, key, "fails_once", 3600.0)
    await asyncio.sleep(1.5 * DAY_SECONDS)
    await asking.client.workflow_service.reset_activity(
        ResetActivityRequest(
            namespace=asking.client.namespace, execution=WorkflowExecution(workflow_id=handle.id), type="fails_once"
        )
    )
    with pytest.raises(WorkflowFailureError) as failed:
        async with asyncio.timeout(60):
            await handle.result()
    activity_error = failed.value.cause
    assert isinstance(activity_error, ActivityError)
    assert isinstance(activity_error.cause, ApplicationError)
    assert activity_error.cause.type == "MemoryOperationExpired"
    assert await asking.texts("chat", key) == ["Where?", "Attempt 1."]
