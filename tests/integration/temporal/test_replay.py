"""Histories of this release replay with the plugin: no command depends on anything but the history."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from temporalio.client import WorkflowFailureError, WorkflowHistory
from temporalio.worker import Replayer

from durable_memory.activities import wire
from tests.integration.temporal.background import flusher_ended, texts
from tests.integration.temporal.flows.conversations import CONVERSATIONS, AppendMany, Talk, UseEveryMethod
from tests.integration.temporal.flows.endings import ENDINGS, End
from tests.integration.temporal.rig import Rig, plugin, unique


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
        await asyncio.sleep(0.2)
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
    chain = await rig.start(End.run, "scratch", key, "continue as new", id=unique("run"))
    await asyncio.sleep(0.5)
    await rig.client.get_workflow_handle(chain.id).signal(End.release)
    await rig.client.get_workflow_handle(chain.id).result()


async def test_the_histories_of_workflows_and_flushers_replay(rig: Rig, redis_url: str) -> None:
    await played(rig)
    replayed: list[str] = []

    async def histories() -> AsyncIterator[WorkflowHistory]:
        of_this_rig = f"TaskQueue = '{rig.queue}' OR TaskQueue = '{rig.flush_queue}'"
        async for execution in rig.client.list_workflows(of_this_rig):
            if execution.workflow_type in ("End", "Talk", "UseEveryMethod", "AppendMany", wire.FLUSHER):
                replayed.append(execution.workflow_type)
                yield await rig.client.get_workflow_handle(execution.id, run_id=execution.run_id).fetch_history()

    replayer = Replayer(workflows=[*CONVERSATIONS, *ENDINGS], plugins=[plugin(redis_url, unique("project"))])
    results = await replayer.replay_workflows(histories(), raise_on_replay_failure=False)
    assert results.replay_failures == {}
    assert {"End", "Talk", "UseEveryMethod", "AppendMany", wire.FLUSHER} == set(replayed)
