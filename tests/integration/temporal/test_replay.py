"""Histories of this release replay with the plugin: no command depends on anything but the history."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.enums.v1.workflow_pb2 import PENDING_ACTIVITY_STATE_STARTED
from temporalio.client import WorkflowFailureError, WorkflowHandle, WorkflowHistory
from temporalio.worker import Replayer

from durable_memory import MemoryPlugin
from durable_memory.activities import wire
from tests.integration.temporal.background import flusher_ended, texts
from tests.integration.temporal.flows.calls import AppendMany
from tests.integration.temporal.flows.conversations import CONVERSATIONS
from tests.integration.temporal.flows.endings import ENDINGS, End
from tests.integration.temporal.flows.talks import Talk, UseEveryMethod
from tests.integration.temporal.observing import event_types_of, eventually
from tests.integration.temporal.rig import Rig, unique


async def waits(handle: WorkflowHandle[Any, Any]) -> bool:
    """Whether a workflow does nothing by itself any more: it waits to be told, or in an activity that does."""
    pending = (await handle.describe()).raw_description.pending_activities
    if pending:
        started = [each.activity_type.name for each in pending if each.state == PENDING_ACTIVITY_STATE_STARTED]
        return started == ["wait_for_cancellation"]
    return (await event_types_of(handle))[-1] == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED


async def played(rig: Rig) -> None:
    """Lets workflows of each kind run to their ends."""
    key = unique("key")
    await rig.run(UseEveryMethod.run, unique("key"))
    await rig.run(Talk.run, key, "Hello.")
    await rig.run(AppendMany.run, "small", [key], texts(5))
    await flusher_ended(rig, rig.memory("small", key))
    for how in ("return", "fail", "idle"):
        await asyncio.wait([asyncio.create_task(rig.run(End.run, "scratch", key, how))])
    for how in ("wait", "wait in an activity", "wait idly"):
        handle = await rig.start(End.run, "scratch", unique("key"), how)
        await eventually(partial(waits, handle))
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
    chain = await rig.start(End.run, "scratch", key, "continue as new", id=unique("run"))
    last = rig.client.get_workflow_handle(chain.id)
    await eventually(partial(waits, last))
    await last.signal(End.release)
    await last.result()


async def test_the_histories_of_workflows_and_flushers_replay_without_declarations_and_redis(rig: Rig) -> None:
    await played(rig)
    replayed: list[str] = []

    async def histories() -> AsyncIterator[WorkflowHistory]:
        of_this_rig = f"TaskQueue = '{rig.queue}' OR TaskQueue = '{rig.flush_queue}'"
        async for execution in rig.client.list_workflows(of_this_rig):
            if execution.workflow_type in ("End", "Talk", "UseEveryMethod", "AppendMany", wire.FLUSHER):
                replayed.append(execution.workflow_type)
                yield await rig.client.get_workflow_handle(execution.id, run_id=execution.run_id).fetch_history()

    replayer = Replayer(workflows=[*CONVERSATIONS, *ENDINGS], plugins=[MemoryPlugin(memories=[])])
    results = await replayer.replay_workflows(histories(), raise_on_replay_failure=False)
    assert results.replay_failures == {}
    assert {"End", "Talk", "UseEveryMethod", "AppendMany", wire.FLUSHER} == set(replayed)
