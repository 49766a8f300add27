"""An operator pauses or resets the activity of a flush: its batch is given back, and the flush is done afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import PauseActivityRequest, ResetActivityRequest, UnpauseActivityRequest
from temporalio.client import WorkflowHandle

from durable_memory.memory.memory import Memory
from durable_memory.memory.stores.values import Batch, FlushOptions
from tests.integration.temporal.background import messages_accounted_for, texts
from tests.integration.temporal.flows.slow_flush import PASSES_ON, WatchedFlush
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import Rig, running
from tests.integration.temporal.summarizers import Gated

NAMESPACE = "default"


@pytest.fixture
def summarizer() -> Gated:
    return Gated()


@pytest.fixture
async def watched(temporal_address: str, redis_url: str, summarizer: Gated) -> AsyncIterator[Rig]:
    """A worker whose summariser waits at its gate."""
    async with running(
        temporal_address,
        redis_url,
        summarizer=summarizer,
        workflows=[WatchedFlush],
        max_heartbeat_throttle_interval=PASSES_ON,
    ) as rig:
        yield rig
        summarizer.gate.set()


async def flushing(rig: Rig, memory: Memory, summarizer: Gated) -> WorkflowHandle[str, str]:
    """Starts a flush and returns when it summarises."""
    await memory.append(texts(3))
    handle = await rig.start(WatchedFlush.run, "patient", "key")
    await summarizer.asked()
    return handle


async def another_can_begin(rig: Rig, memory: Memory) -> bool:
    """Whether another flush gets the lease, which is held for half a minute; it gives it back at once."""
    declared = rig.memories.registry.memory("patient")
    flush = rig.memories.parts.services(declared).flush
    begun = await flush.begin(memory.id, "another", declared.limits(), FlushOptions(force=True), attempt_ends_ms=2**52)
    if not isinstance(begun, Batch):
        return False
    await flush.fail(memory.id, begun, error_type="Cancelled", retry_after_ms=0)
    return True


async def test_a_paused_flush_lets_others_flush_and_goes_on_when_it_is_unpaused(
    watched: Rig, summarizer: Gated
) -> None:
    memory = watched.memory("patient", "key")
    handle = await flushing(watched, memory, summarizer)
    service, run = watched.client.workflow_service, WorkflowExecution(workflow_id=handle.id)
    await service.pause_activity(PauseActivityRequest(namespace=NAMESPACE, execution=run, id="1"))
    await eventually(lambda: another_can_begin(watched, memory))
    assert (await memory.stats()).messages["long_term"] == 0
    summarizer.gate.set()
    await service.unpause_activity(UnpauseActivityRequest(namespace=NAMESPACE, execution=run, id="1"))
    assert await handle.result() == "committed"
    assert await messages_accounted_for(memory) == 3


async def test_a_reset_flush_begins_anew(watched: Rig, summarizer: Gated) -> None:
    memory = watched.memory("patient", "key")
    handle = await flushing(watched, memory, summarizer)
    execution = WorkflowExecution(workflow_id=handle.id)
    await watched.client.workflow_service.reset_activity(
        ResetActivityRequest(namespace=NAMESPACE, execution=execution, id="1")
    )

    async def asked_again() -> bool:
        return summarizer.calls == 2

    await eventually(asked_again)
    summarizer.gate.set()
    assert await handle.result() == "committed"
    assert await messages_accounted_for(memory) == 3
