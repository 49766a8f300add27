"""What becomes of memories when the workflow that used them ends, in each way that Temporal knows.

Each is played with a workflow cache, and without one: there every task replays the workflow, so that a cleanup which
took an eviction for an end would be seen.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType, PendingActivityState
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import RetryPolicy, WorkflowIDConflictPolicy
from temporalio.exceptions import CancelledError
from temporalio.worker import Worker

from tests.integration.temporal.flows.endings import WORDS, End, HasABug, HasNoBug
from tests.integration.temporal.holding import HoldsAnswers
from tests.integration.temporal.observing import activities_of, event_types_of, eventually
from tests.integration.temporal.rig import Rig, running, unique
from tests.integration.temporal.unseen_ends import UNSEEN_ENDS, end_unseen

CLEANUP = "memory.cleanup"


async def appended(rig: Rig, key: str, resource: str = "scratch", messages: int = 1) -> None:
    """Waits until a memory holds what a workflow appends first."""

    async def look() -> bool:
        return len(await rig.texts(resource, key)) >= messages

    await eventually(look)


async def test_a_memory_of_scope_temp_is_cleared_when_its_workflow_returns(any_cache: Rig) -> None:
    key = unique("key")
    handle = await any_cache.start(End.run, "scratch", key, "return")
    assert await handle.result() == "return"
    assert await activities_of(handle) == ["memory.append", CLEANUP]
    assert await any_cache.texts("scratch", key) == []


async def test_a_workflow_without_memory_schedules_no_cleanup(any_cache: Rig) -> None:
    handle = await any_cache.start(End.run, "scratch", unique("key"), "idle")
    await handle.result()
    assert await activities_of(handle) == []


async def test_a_failed_workflow_is_cleaned_up_and_keeps_its_own_error(any_cache: Rig) -> None:
    key = unique("key")
    handle = await any_cache.start(End.run, "scratch", key, "fail")
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert "the model is gone" in str(caught.value.cause)
    assert await activities_of(handle) == ["memory.append", CLEANUP]
    assert await any_cache.texts("scratch", key) == []


async def test_a_workflow_that_a_signal_handler_fails_is_cleaned_up(any_cache: Rig) -> None:
    key = unique("key")
    handle = await any_cache.start(End.run, "scratch", key, "wait")
    await appended(any_cache, key)
    await handle.signal(End.fail)
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert "the user hung up" in str(caught.value.cause)
    assert await activities_of(handle) == ["memory.append", CLEANUP]
    assert await any_cache.texts("scratch", key) == []


async def test_attempts_under_a_retry_policy_share_the_memory_and_the_last_one_settles_it(any_cache: Rig) -> None:
    key, workflow_id = unique("key"), unique("run")
    handle = await any_cache.start(
        End.run,
        "kept",
        key,
        "fail",
        id=workflow_id,
        retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=10), maximum_attempts=2),
    )
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    first = any_cache.client.get_workflow_handle(workflow_id, run_id=handle.first_execution_run_id)
    last = any_cache.client.get_workflow_handle(workflow_id)
    assert await activities_of(first) == ["memory.append"]
    assert await activities_of(last) == ["memory.append", CLEANUP]
    assert await any_cache.texts("kept", key) == [WORDS, WORDS]


async def test_a_failure_that_no_retry_policy_repeats_is_the_end(any_cache: Rig) -> None:
    key = unique("key")
    handle = await any_cache.start(End.run, "scratch", key, "fail for good", retry_policy=RetryPolicy())
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    assert await activities_of(handle) == ["memory.append", CLEANUP]


@pytest.mark.parametrize("cache", [1000, 0])
async def test_a_bug_that_fails_the_workflow_task_cleans_nothing_until_it_is_repaired(
    temporal_address: str, redis_url: str, cache: int
) -> None:
    key = unique("key")
    async with running(temporal_address, redis_url, workflows=[HasABug], max_cached_workflows=cache) as rig:
        # A task that a stopping worker holds is given to the next one after its timeout, 10 s by default.
        handle = await rig.start(HasABug.run, key, task_timeout=timedelta(seconds=4))
        failed = EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED

        async def task_failed() -> bool:
            return failed in await event_types_of(handle)

        await eventually(task_failed)
        assert await activities_of(handle) == ["memory.append"]
        assert await rig.texts("scratch", key) == [WORDS]
    async with _repaired(rig, cache):
        assert await handle.result() == "repaired"
    assert await activities_of(handle) == ["memory.append", CLEANUP]


def _repaired(rig: Rig, cache: int) -> Worker:
    return Worker(rig.client, task_queue=rig.queue, workflows=[HasNoBug], max_cached_workflows=cache)


async def test_continue_as_new_cleans_at_the_end_of_the_chain_though_its_last_run_used_no_memory(
    any_cache: Rig,
) -> None:
    key, workflow_id = unique("key"), unique("run")
    first = await any_cache.start(End.run, "scratch", key, "continue as new", id=workflow_id)
    chain = any_cache.client.get_workflow_handle(workflow_id)

    async def continued() -> bool:
        return (await chain.describe()).run_id != first.first_execution_run_id

    await eventually(continued)
    assert await any_cache.texts("scratch", key) == [WORDS]
    await chain.signal(End.release)
    assert await chain.result() == "wait idly"
    only_first = any_cache.client.get_workflow_handle(workflow_id, run_id=first.first_execution_run_id)
    assert await activities_of(only_first) == ["memory.append"]
    assert await activities_of(chain) == [CLEANUP]
    assert await any_cache.texts("scratch", key) == []


async def test_a_cancelled_workflow_is_cleaned_up_and_ends_as_cancelled(any_cache: Rig) -> None:
    key = unique("key")
    handle = await any_cache.start(End.run, "scratch", key, "wait")
    await appended(any_cache, key)
    await handle.cancel()
    await ends_as_cancelled(handle)
    assert await activities_of(handle) == ["memory.append", CLEANUP]
    assert await any_cache.texts("scratch", key) == []


async def test_a_workflow_cancelled_inside_an_activity_is_cleaned_up_and_ends_as_cancelled(any_cache: Rig) -> None:
    key = unique("key")
    handle = await any_cache.start(End.run, "scratch", key, "wait in an activity")

    async def is_inside() -> bool:
        pending = (await handle.describe()).raw_description.pending_activities
        started = [
            one.activity_type.name
            for one in pending
            if one.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
        ]
        return started == ["wait_for_cancellation"]

    await eventually(is_inside)
    await handle.cancel()
    await ends_as_cancelled(handle)
    assert await activities_of(handle) == ["memory.append", "wait_for_cancellation", CLEANUP]
    assert await any_cache.texts("scratch", key) == []


async def ends_as_cancelled(handle: WorkflowHandle[object, str]) -> None:
    """Waits for the end and checks that Temporal counts it as a cancellation."""
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert isinstance(caught.value.cause, CancelledError)


async def test_a_cancellation_during_the_cleanup_neither_stops_it_nor_takes_the_result(
    temporal_address: str, redis_url: str
) -> None:
    holds = HoldsAnswers(CLEANUP)
    async with running(temporal_address, redis_url, interceptors=[holds]) as rig:
        key = unique("key")
        handle = await rig.start(End.run, "scratch", key, "return")
        await holds.held()
        await handle.cancel()

        async def cancellation_was_seen() -> bool:
            requested = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED
            after = (await event_types_of(handle))[::-1]
            return EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED in after[: after.index(requested)]

        await eventually(cancellation_was_seen)
        holds.gate.set()
        assert await handle.result() == "return"
        assert EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED not in await event_types_of(handle)
        assert await rig.texts("scratch", key) == []


async def test_an_eviction_from_the_cache_is_no_end(temporal_address: str, redis_url: str) -> None:
    async with running(temporal_address, redis_url, max_cached_workflows=1) as rig:
        evicted_key, other_key = unique("key"), unique("key")
        evicted = await rig.start(End.run, "scratch", evicted_key, "wait")
        await appended(rig, evicted_key)
        other = await rig.start(End.run, "scratch", other_key, "wait")  # takes the only place in the cache
        await appended(rig, other_key)
        assert await activities_of(evicted) == ["memory.append"]
        assert await rig.texts("scratch", evicted_key) == [WORDS]
        for handle in (evicted, other):
            await handle.signal(End.release)
            await handle.result()
            assert await activities_of(handle) == ["memory.append", CLEANUP]
        assert await rig.texts("scratch", evicted_key) == []


@pytest.mark.parametrize("how", UNSEEN_ENDS)
async def test_an_end_that_no_worker_sees_leaves_the_memory_as_it_is(any_cache: Rig, how: str) -> None:
    handle, key = await end_unseen(any_cache, how)
    assert await activities_of(handle) == ["memory.append"]
    assert await any_cache.texts("scratch", key) == [WORDS]


async def test_a_run_that_replaces_a_running_one_takes_its_memory_over(any_cache: Rig) -> None:
    key, workflow_id = unique("key"), unique("run")
    first = await any_cache.start(End.run, "scratch", key, "wait", id=workflow_id)
    await appended(any_cache, key)
    second = await any_cache.start(
        End.run,
        "scratch",
        key,
        "wait",
        id=workflow_id,
        id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
    )
    await appended(any_cache, key, messages=2)
    replaced = any_cache.client.get_workflow_handle(workflow_id, run_id=first.first_execution_run_id)
    assert await activities_of(replaced) == ["memory.append"]
    await second.signal(End.release)
    await second.result()
    assert await any_cache.texts("scratch", key) == []


async def test_a_reset_workflow_is_cleaned_up_twice_and_that_does_no_harm(any_cache: Rig) -> None:
    key, workflow_id = unique("key"), unique("run")
    handle = await any_cache.start(End.run, "scratch", key, "return", id=workflow_id)
    await handle.result()
    await _reset(any_cache.client, workflow_id, str(handle.first_execution_run_id))
    again = any_cache.client.get_workflow_handle(workflow_id)
    assert (await again.describe()).run_id != handle.first_execution_run_id
    assert await again.result() == "return"
    assert await activities_of(again) == ["memory.append", CLEANUP]
    assert await any_cache.texts("scratch", key) == []


async def _reset(client: Client, workflow_id: str, run_id: str) -> None:
    """Resets a run to the end of its first workflow task."""
    await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
            reason="played by a test",
            workflow_task_finish_event_id=4,
            request_id=unique("reset"),
        )
    )


@pytest.mark.parametrize(("resource", "left"), [("kept", [WORDS]), ("cleared", []), ("chat", [WORDS])])
async def test_the_end_of_a_workflow_does_what_the_resource_declares(
    any_cache: Rig, resource: str, left: list[str]
) -> None:
    key = unique("key")
    handle = await any_cache.start(End.run, resource, key, "return")
    await handle.result()
    assert await activities_of(handle) == ["memory.append", CLEANUP]
    assert await any_cache.texts(resource, key) == left


async def test_on_workflow_end_flush_summarises_what_is_there(any_cache: Rig) -> None:
    key = unique("key")
    await any_cache.run(End.run, "flushed", key, "return")
    memory = any_cache.memory("flushed", key)

    async def flushed() -> bool:
        return (await memory.stats()).messages["long_term"] == 1

    await eventually(flushed)
    [summary] = (await memory.read()).messages
    assert WORDS in summary.text


async def test_a_shared_memory_is_settled_at_the_end_of_its_last_workflow(any_cache: Rig) -> None:
    key = unique("key")
    one = await any_cache.start(End.run, "scratch", key, "wait")
    two = await any_cache.start(End.run, "scratch", key, "wait")
    await appended(any_cache, key, messages=2)
    await one.signal(End.release)
    await one.result()
    assert await any_cache.texts("scratch", key) == [WORDS, WORDS]
    await two.signal(End.release)
    await two.result()
    assert await any_cache.texts("scratch", key) == []


async def test_a_shared_memory_is_settled_when_its_workflows_end_at_the_same_time(any_cache: Rig) -> None:
    key = unique("key")
    sharing = [await any_cache.start(End.run, "scratch", key, "wait") for _ in range(8)]
    await appended(any_cache, key, messages=8)
    await asyncio.gather(*(handle.signal(End.release) for handle in sharing))
    await asyncio.gather(*(handle.result() for handle in sharing))
    assert await any_cache.texts("scratch", key) == []
