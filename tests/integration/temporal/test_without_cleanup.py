"""Workflows under `MemoryPlugin(cleanup=False)` end where they return, and the janitor settles what they owned."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from temporalio.client import WorkflowFailureError

from tests.integration.janitor.sweeping import sweeper
from tests.integration.temporal.flows.conversations import CONVERSATIONS
from tests.integration.temporal.flows.endings import ENDINGS, WORDS, End
from tests.integration.temporal.flows.listening import Listens
from tests.integration.temporal.observing import activities_of, eventually
from tests.integration.temporal.rig import Rig, running, unique


@pytest.fixture
async def rig(temporal_address: str, redis_url: str) -> AsyncIterator[Rig]:
    workflows = (*CONVERSATIONS, *ENDINGS, Listens)
    async with running(temporal_address, redis_url, cleanup=False, workflows=workflows) as opened:
        yield opened


async def test_the_janitor_settles_what_they_owned(rig: Rig, redis_url: str) -> None:
    returned = await rig.start(End.run, "scratch", "returned", "return")
    failed = await rig.start(End.run, "scratch", "failed", "fail")
    assert await returned.result() == "return"
    with pytest.raises(WorkflowFailureError):
        await failed.result()
    assert await activities_of(returned) == await activities_of(failed) == ["memory.append"]
    assert await rig.texts("scratch", "returned") == await rig.texts("scratch", "failed") == [WORDS]
    async with sweeper(rig, redis_url) as by_hand:
        assert (await by_hand.sweep())["cleared"] == 2
    assert await rig.texts("scratch", "returned") == await rig.texts("scratch", "failed") == []


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
        return sorted(await rig.texts("scratch", "key")) == sorted(sent)

    await eventually(all_are_heard)
