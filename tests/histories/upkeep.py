"""Scenes of our own workflows: what a flusher meets, and what the janitor does."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

from temporalio.client import ScheduleActionExecutionStartWorkflow, WorkflowHandle

from durable_memory import Memory
from durable_memory.activities import wire
from durable_memory.memory.stores.values import Batch, FlushOptions
from durable_memory.running.janitor_schedule import ensure_janitor, schedule_id
from tests.histories.stage import PROJECT, QUEUE, Runs, Stage, activity_runs, has_event
from tests.integration.temporal.observing import activities_of, eventually

_TEXT = "The parcel left the depot in the morning and will be here before the evening, says the carrier. "
_STEPS = [wire.FLUSH_BEGIN, wire.FLUSH_SUMMARIZE, wire.FLUSH_COMMIT]


async def _due(stage: Stage, key: str) -> Memory:
    memory = stage.memories.memory("small", key)
    assert (await memory.append([_TEXT * 2, _TEXT, _TEXT])).flush_due
    return memory


async def flushes(stage: Stage) -> Runs:
    """One flush, and nothing more."""
    handle = await stage.wake(await _due(stage, "flushed"))
    await handle.result()
    assert await activities_of(handle) == [*_STEPS, wire.FLUSH_BEGIN]
    return {"flusher-flushed": handle}


async def finds_nothing_due(stage: Stage) -> Runs:
    """A signal that came too late."""
    handle = await stage.wake(stage.memories.memory("small", "nothing-due"))
    await handle.result()
    assert await activities_of(handle) == [wire.FLUSH_BEGIN]
    return {"flusher-nothing-due": handle}


async def is_busy(stage: Stage) -> Runs:
    """Another flush holds the lease, and gives it back."""
    memory = await _due(stage, "busy")
    resource = stage.memories.registry.memory("small")
    flush = stage.memories.parts.services(resource).flush
    begun = await flush.begin(memory.id, "another", resource.limits(), FlushOptions(), attempt_ends_ms=2**52)
    assert isinstance(begun, Batch)
    handle = await stage.wake(memory)
    await eventually(lambda: has_event(handle, "timer_started_event_attributes"))
    await flush.fail(memory.id, begun, error_type="Cancelled", retry_after_ms=0)
    await handle.result()
    assert await activities_of(handle) == [wire.FLUSH_BEGIN, *_STEPS, wire.FLUSH_BEGIN]
    return {"flusher-busy": handle}


async def fails_to_summarize(stage: Stage) -> Runs:
    """The summariser refuses for good."""
    memory = await _due(stage, "failed-summary")
    stage.summaries.failing = True
    handle = await stage.wake(memory)
    await handle.result()
    stage.summaries.failing = False
    assert await activities_of(handle) == [wire.FLUSH_BEGIN, wire.FLUSH_SUMMARIZE, wire.FLUSH_FAIL]
    return {"flusher-failed-summary": handle}


async def continues_as_new(stage: Stage) -> Runs:
    """More becomes due during a flush, and the history has become long."""
    memory = await _due(stage, "long")
    stage.summaries.gate.clear()
    first = await stage.wake(memory)
    await eventually(lambda: activity_runs(first, wire.FLUSH_SUMMARIZE))
    await memory.append([_TEXT, _TEXT, _TEXT])
    await stage.wake(memory)
    stage.summaries.gate.set()
    last = await stage.latest(first.id)
    assert await activities_of(first) == _STEPS * 2
    assert await activities_of(last) == [wire.FLUSH_BEGIN]
    return {"flusher-continue-as-new": first, "flusher-nothing-due-after-continue-as-new": last}


async def sweeps(stage: Stage) -> Runs:
    """The first run of the schedule, and one that gets the result of the run before."""
    await ensure_janitor(stage.client, project=PROJECT, task_queue=QUEUE, interval=timedelta(days=1))
    runs = {}
    for number, name in enumerate(("janitor-swept", "janitor-swept-again"), start=1):
        await stage.client.get_schedule_handle(schedule_id(PROJECT)).trigger()
        handle = await eventually(partial(_janitor, stage, number))
        assert handle is not None
        assert (await handle.result())["position"] is None
        runs[name] = handle
    return runs


async def _janitor(stage: Stage, number: int) -> WorkflowHandle[Any, Any] | None:
    """Returns a handle on the nth run of the schedule."""
    info = (await stage.client.get_schedule_handle(schedule_id(PROJECT)).describe()).info
    if info.num_actions < number or len(info.recent_actions) < number:
        return None
    action = info.recent_actions[-1].action
    assert isinstance(action, ScheduleActionExecutionStartWorkflow)
    return stage.run(action.workflow_id, action.first_execution_run_id)


SCENES = (flushes, finds_nothing_due, is_busy, fails_to_summarize, continues_as_new, sweeps)
