"""Appends that find the overflow full wait for the summariser; none of them is lost."""

from __future__ import annotations

from temporalio.api.enums.v1 import ApplicationErrorCategory
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowHandle

from tests.integration.temporal.background import flusher_ended, messages_accounted_for, texts
from tests.integration.temporal.flows.calls import AppendMany
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import running
from tests.integration.temporal.summarizers import Gated


async def held_back(handle: WorkflowHandle[object, object]) -> PendingActivityInfo:
    """Waits until the one pending call of a workflow was refused at least once."""

    async def look() -> PendingActivityInfo | None:
        pending = (await handle.describe()).raw_description.pending_activities
        return next((call for call in pending if call.HasField("last_failure")), None)

    found = await eventually(look)
    assert found is not None
    return found


async def test_while_the_summariser_stands_still_appends_are_held_back_and_all_pass_afterwards(
    temporal_address: str, redis_url: str
) -> None:
    summarizer = Gated()
    async with running(temporal_address, redis_url, summarizer=summarizer) as rig:
        memory = rig.memory("narrow", "key")
        handle = await rig.start(AppendMany.run, "narrow", ["key"], texts(20, sentences=3))
        refused = await held_back(handle)
        failure = refused.last_failure.application_failure_info
        assert failure.type == "MemoryBackpressure"
        assert not failure.non_retryable
        assert failure.next_retry_delay.ToMilliseconds() == 2000
        assert failure.category == ApplicationErrorCategory.APPLICATION_ERROR_CATEGORY_BENIGN
        before = await messages_accounted_for(memory)
        assert 3 < before < 20
        assert "wait for their summary" in " ".join((await memory.health()).problems)
        summarizer.gate.set()
        await handle.result()
        await flusher_ended(rig, memory)
        assert await messages_accounted_for(memory) == 20
        assert not (await memory.stats()).flush_due


async def test_an_append_that_is_held_back_wakes_a_flusher_where_none_runs(
    temporal_address: str, redis_url: str
) -> None:
    summarizer = Gated()
    async with running(temporal_address, redis_url, summarizer=summarizer) as rig:
        memory = rig.memory("narrow", "key")
        handle = await rig.start(AppendMany.run, "narrow", ["key"], texts(20, sentences=3))
        await held_back(handle)
        await rig.flusher(memory).terminate()
        summarizer.gate.set()
        await handle.result()
        await flusher_ended(rig, memory)
        assert await messages_accounted_for(memory) == 20
