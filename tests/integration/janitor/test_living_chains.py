"""Swept more than once a second, nothing of a chain that goes on is touched, and nothing of one that ended stays."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHandle
from temporalio.common import RetryPolicy, WorkflowIDConflictPolicy

from tests.integration.janitor.flows import ContinuesAsNew, EveryTime, FailsOnce
from tests.integration.janitor.sweeping import Sweeper, appended, latest_run, next_run, reset
from tests.integration.temporal.flows.endings import WORDS, End
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import unique
from tests.integration.temporal.unseen_ends import UNSEEN_ENDS, end_unseen


async def test_continue_as_new_keeps_what_the_first_run_wrote_until_the_chain_ends(busy: Sweeper) -> None:
    key, workflow_id = unique("key"), unique("run")
    handle = await busy.rig.start(ContinuesAsNew.run, key, 5, id=workflow_id)
    chain = busy.rig.client.get_workflow_handle(workflow_id)
    await appended(busy.rig, "scratch", key)
    run = str(handle.first_execution_run_id)
    for _ in range(5):
        await busy.swept_twice()
        assert await busy.rig.texts("scratch", key) == ["From the first run."]
        await chain.signal(ContinuesAsNew.go_on)
        run = await next_run(chain, run)
    await busy.swept_twice()
    assert await busy.rig.texts("scratch", key) == ["From the first run."]
    await chain.terminate()
    await busy.nothing_is_left("scratch", key, workflow_id)


async def test_an_attempt_that_waits_for_its_retry_goes_on(busy: Sweeper) -> None:
    key, workflow_id = unique("key"), unique("run")
    handle = await busy.rig.start(
        FailsOnce.run, key, id=workflow_id, retry_policy=RetryPolicy(initial_interval=timedelta(seconds=2))
    )
    chain = busy.rig.client.get_workflow_handle(workflow_id)
    await next_run(chain, str(handle.first_execution_run_id))  # it exists from the failure on, and waits
    await busy.swept_twice()
    assert await busy.rig.texts("scratch", key) == ["From the first attempt."]
    await chain.signal(FailsOnce.go_on)
    await chain.result()
    await busy.nothing_is_left("scratch", key, workflow_id)


async def test_a_cron_workflow_goes_on_between_its_runs(busy: Sweeper) -> None:
    key, workflow_id = unique("key"), unique("run")
    await busy.rig.start(EveryTime.run, key, id=workflow_id, cron_schedule="@every 1s")
    await appended(busy.rig, "scratch", key, messages=2)
    before = len(await busy.rig.texts("scratch", key))
    await busy.swept_twice()
    assert len(await busy.rig.texts("scratch", key)) >= before
    await appended(busy.rig, "scratch", key, messages=before + 1)
    await busy.rig.client.get_workflow_handle(workflow_id).terminate()
    await busy.nothing_is_left("scratch", key, workflow_id)


async def test_a_reset_run_goes_on_though_the_one_that_wrote_is_terminated(busy: Sweeper) -> None:
    key, workflow_id = unique("key"), unique("run")
    handle = await busy.rig.start(End.run, "scratch", key, "wait", id=workflow_id)
    await appended(busy.rig, "scratch", key)
    after_the_append = await _workflow_task(handle, 2)
    first = str(handle.first_execution_run_id)
    await reset(busy.rig, workflow_id, first, after_the_append)
    again = busy.rig.client.get_workflow_handle(workflow_id)
    assert await next_run(again, first) != first
    await busy.swept_twice()
    assert {binding.owner.run_id for binding in await busy.bindings(workflow_id)} == {first}
    assert await busy.rig.texts("scratch", key) == [WORDS]
    await again.terminate()
    await busy.nothing_is_left("scratch", key, workflow_id)


async def test_a_reset_of_an_earlier_run_keeps_what_its_chain_wrote(busy: Sweeper) -> None:
    key, workflow_id = unique("key"), unique("run")
    handle = await busy.rig.start(ContinuesAsNew.run, key, 1, id=workflow_id)
    chain = busy.rig.client.get_workflow_handle(workflow_id)
    await appended(busy.rig, "scratch", key)
    runs = [str(handle.first_execution_run_id)]
    events = [await _workflow_task(chain, 2)]
    await chain.signal(ContinuesAsNew.go_on)
    runs.append(await next_run(chain, runs[0]))
    events.append(await _workflow_task(chain, 1))
    for run, event in zip(runs, events, strict=True):  # one that has continued, and one that the first reset terminated
        latest = await latest_run(chain)
        await reset(busy.rig, workflow_id, run, event)
        await next_run(chain, latest)
        await busy.swept_twice()
        assert await busy.rig.texts("scratch", key) == ["From the first run."]
    await chain.terminate()
    await busy.nothing_is_left("scratch", key, workflow_id)


async def _workflow_task(handle: WorkflowHandle[Any, Any], number: int) -> int:
    """Waits until so many tasks of a run are done, two where it has appended; returns the event of that end."""

    async def look() -> list[int]:
        completed = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
        return [event.event_id async for event in handle.fetch_history_events() if event.event_type == completed][
            number - 1 :
        ]

    return (await eventually(look))[0]


async def test_a_run_that_replaces_a_running_one_keeps_what_it_shares_and_loses_what_only_the_other_had(
    busy: Sweeper,
) -> None:
    shared, own, workflow_id = unique("shared"), unique("own"), unique("run")
    living = await busy.rig.start(End.run, "scratch", shared, "wait")
    first = await busy.rig.start(End.run, "scratch", own, "wait", id=workflow_id)
    await appended(busy.rig, "scratch", shared)
    await appended(busy.rig, "scratch", own)
    second = await busy.rig.start(
        End.run,
        "scratch",
        shared,
        "wait",
        id=workflow_id,
        id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
    )
    assert second.first_execution_run_id != first.first_execution_run_id
    await appended(busy.rig, "scratch", shared, messages=2)
    await living.terminate()

    async def only_the_shared_one_is_bound() -> bool:
        return [binding.memory.key for binding in await busy.bindings(workflow_id)] == [shared]

    await eventually(only_the_shared_one_is_bound)
    await busy.swept_twice()
    assert await busy.rig.texts("scratch", own) == []
    assert await busy.rig.texts("scratch", shared) == [WORDS, WORDS]
    await second.terminate()
    await busy.nothing_is_left("scratch", shared, workflow_id)


async def test_an_id_that_is_used_again_starts_with_nothing_of_the_chain_before(busy: Sweeper) -> None:
    key, workflow_id = unique("key"), unique("run")
    before = await busy.rig.start(End.run, "scratch", key, "wait", id=workflow_id)
    await appended(busy.rig, "scratch", key)
    await before.terminate()
    await busy.nothing_is_left("scratch", key, workflow_id)
    after = await busy.rig.start(End.run, "scratch", key, "wait", id=workflow_id)
    await appended(busy.rig, "scratch", key)
    await busy.swept_twice()
    assert await busy.rig.texts("scratch", key) == [WORDS]
    assert {binding.owner.run_id for binding in await busy.bindings(workflow_id)} == {await latest_run(after)}
    await after.terminate()
    await busy.nothing_is_left("scratch", key, workflow_id)


async def test_a_shared_memory_stays_as_long_as_one_of_its_owners_goes_on(busy: Sweeper) -> None:
    key = unique("key")
    living, dead = [await busy.rig.start(End.run, "scratch", key, "wait") for _ in range(2)]
    await appended(busy.rig, "scratch", key, messages=2)
    await dead.terminate()

    async def dead_one_is_released() -> bool:
        return await busy.bindings(dead.id) == ()

    await eventually(dead_one_is_released)
    await busy.swept_twice()
    assert await busy.rig.texts("scratch", key) == [WORDS, WORDS]
    await living.signal(End.release)
    await living.result()
    assert await busy.rig.texts("scratch", key) == []


@pytest.mark.parametrize("how", UNSEEN_ENDS)
async def test_what_an_end_that_no_worker_sees_leaves_is_cleared(busy: Sweeper, how: str) -> None:
    handle, key = await end_unseen(busy.rig, how)
    await busy.nothing_is_left("scratch", key, handle.id)

    async def unlisted() -> bool:
        return key not in await busy.listed("scratch")

    await eventually(unlisted)


@pytest.mark.parametrize(("resource", "left"), [("kept", [WORDS]), ("cleared", []), ("chat", [WORDS])])
async def test_the_janitor_does_what_the_resource_declares(busy: Sweeper, resource: str, left: list[str]) -> None:
    key = unique("key")
    handle = await busy.rig.start(End.run, resource, key, "wait")
    await appended(busy.rig, resource, key)
    await handle.terminate()

    async def released() -> bool:
        return await busy.bindings(handle.id) == ()

    await eventually(released)
    assert await busy.rig.texts(resource, key) == left


async def test_on_workflow_end_flush_summarises_what_a_terminated_workflow_left(busy: Sweeper) -> None:
    key = unique("key")
    handle = await busy.rig.start(End.run, "flushed", key, "wait")
    await appended(busy.rig, "flushed", key)
    await handle.terminate()
    memory = busy.rig.memory("flushed", key)

    async def flushed() -> bool:
        return (await memory.stats()).messages["long_term"] == 1

    await eventually(flushed)
    [summary] = (await memory.read()).messages
    assert WORDS in summary.text
