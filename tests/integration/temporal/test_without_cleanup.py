"""Workflows under `MemoryPlugin(cleanup=False)` end where they return, and what they owned is settled after that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import nullcontext

import pytest
from temporalio.client import Client, WorkflowFailureError

from durable_memory import MemoryClient
from durable_memory.activities.runs import TemporalRuns
from durable_memory.memory.identity import WorkflowId
from durable_memory.memory.janitor.owners import Owners
from durable_memory.running.membership import WorkerGroups
from durable_memory.running.worker_group import WorkerGroup
from tests.integration.janitor.sweeping import appended
from tests.integration.temporal.flows.conversations import CONVERSATIONS
from tests.integration.temporal.flows.endings import ENDINGS, WORDS, End
from tests.integration.temporal.flows.listening import Listens
from tests.integration.temporal.observing import activities_of, eventually
from tests.integration.temporal.rig import REGISTRY, Rig, running, unique, worker


@pytest.fixture
async def rig(temporal_address: str, redis_url: str) -> AsyncIterator[Rig]:
    workflows = (*CONVERSATIONS, *ENDINGS, Listens)
    async with running(temporal_address, redis_url, cleanup=False, workflows=workflows) as opened:
        yield opened


@pytest.mark.parametrize("end", ["return", "fail"])
async def test_what_they_owned_is_settled_a_moment_later(rig: Rig, end: str) -> None:
    handle = await rig.start(End.run, "scratch", end, end)
    with nullcontext() if end == "return" else pytest.raises(WorkflowFailureError):
        await handle.result()
    assert await activities_of(handle) == ["memory.append"]

    async def cleared() -> bool:
        index = rig.memories.parts.backends["redis"].index
        owned = await index.bindings(rig.memories.project, WorkflowId(rig.client.namespace, handle.id))
        return owned == () and await rig.texts("scratch", end) == []

    await eventually(cleared)


async def test_one_that_goes_on_keeps_what_it_owns(rig: Rig) -> None:
    owners = Owners(rig.memories, TemporalRuns(rig.client))
    handle = await rig.start(End.run, "scratch", "key", "wait")
    await appended(rig, "scratch", "key")
    assert not await owners.settle(WorkflowId(rig.client.namespace, handle.id))
    assert await rig.texts("scratch", "key") == [WORDS]
    await handle.terminate()
    assert await owners.settle(WorkflowId(rig.client.namespace, handle.id))
    assert await rig.texts("scratch", "key") == []


async def test_no_signal_is_lost_to_one_that_returns(rig: Rig) -> None:
    workflow_id, sent = unique("listens"), [f"text {number}" for number in range(60)]
    for number, text in enumerate(sent):
        await rig.client.start_workflow(
            Listens.run,
            "key",
            id=workflow_id,
            task_queue=rig.queue,
            start_signal="tell",
            start_signal_args=[text],
        )
        await asyncio.sleep(number % 12 / 100)  # some while it works, some in the moment in which it ends

    async def all_are_heard() -> bool:
        return sorted(await rig.texts("kept", "key")) == sorted(sent)

    await eventually(all_are_heard)


async def test_an_end_is_settled_by_the_workers_of_its_namespace_alone(
    rig: Rig, client: Client, redis_url: str
) -> None:
    def connect() -> Awaitable[MemoryClient]:
        return MemoryClient.connect(redis_url, memories=REGISTRY, project=rig.memories.project)

    here, elsewhere = [await rig.start(End.run, "scratch", key, "wait") for key in ("here", "elsewhere")]
    for key, handle in (("here", here), ("elsewhere", elsewhere)):
        await appended(rig, "scratch", key)
        await handle.terminate()
    groups = WorkerGroups(lambda first, after: WorkerGroup(first, connect, lambda _: None, nullcontext, after=after))
    async with groups.joined(worker(client, unique("queue"))) as group:
        await group.opened()
        await asyncio.to_thread(groups.note_end, "another", elsewhere.id)
        await asyncio.to_thread(groups.note_end, client.namespace, here.id)

        async def cleared() -> bool:
            return await rig.texts("scratch", "here") == []

        await eventually(cleared)
    assert await rig.texts("scratch", "elsewhere") == [WORDS]
