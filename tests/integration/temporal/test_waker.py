"""Waking a flusher: who shares a signal, and what an unsent one does."""

from __future__ import annotations

import asyncio

import pytest
from temporalio.client import Client

from durable_memory.activities.waker import TemporalWaker, flusher_id
from durable_memory.memory.identity import MemoryId
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import unique
from tests.integration.temporal.signals import HoldsSignals, LosesSignals


async def signals_of(client: Client, memory: MemoryId) -> list[bool]:
    """Returns the arguments of the signals that a flusher received."""
    handle = client.get_workflow_handle(flusher_id(memory))
    return [
        (await client.data_converter.decode(event.workflow_execution_signaled_event_attributes.input.payloads))[0]
        async for event in handle.fetch_history_events()
        if event.HasField("workflow_execution_signaled_event_attributes")
    ]


async def test_callers_share_a_signal_only_if_its_call_starts_after_they_asked(temporal_address: str) -> None:
    holds = HoldsSignals()
    client = await Client.connect(temporal_address, interceptors=[holds])
    waker, memory = TemporalWaker(client, unique("queue")), MemoryId(unique("project"), "small", "key")

    async def first_is_under_way() -> bool:
        return holds.started == 1

    first = asyncio.create_task(waker.wake(memory))
    await eventually(first_is_under_way)
    # The flusher may have read that signal already, so those who ask now need another one; they share it.
    later = [asyncio.create_task(waker.wake(memory, force=force)) for force in (False, True, False)]
    holds.go.release()
    await first
    assert not any(task.done() for task in later)
    holds.go.release()
    await asyncio.gather(*later)
    assert holds.started == 2
    assert await signals_of(client, memory) == [False, True]
    await client.get_workflow_handle(flusher_id(memory)).terminate()


async def test_without_a_queue_flushers_run_on_that_of_the_memorys_project(temporal_client: Client) -> None:
    memory = MemoryId(unique("project"), "small", "key")
    waker = TemporalWaker(temporal_client)
    await waker.wake(memory)
    flusher = await temporal_client.get_workflow_handle(flusher_id(memory)).describe()
    assert flusher.task_queue == f"durable-memory-{memory.project}" == await waker.unpolled(memory.project)
    await temporal_client.get_workflow_handle(flusher.id).terminate()


async def test_a_caller_who_is_cancelled_does_not_take_the_signal_from_the_others(temporal_address: str) -> None:
    holds = HoldsSignals()
    client = await Client.connect(temporal_address, interceptors=[holds])
    waker, memory = TemporalWaker(client, unique("queue")), MemoryId(unique("project"), "small", "key")
    given_up, waits = asyncio.create_task(waker.wake(memory)), asyncio.create_task(waker.wake(memory))
    await asyncio.sleep(0)
    given_up.cancel()
    holds.go.release()
    await waits
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert await signals_of(client, memory) == [False]
    await client.get_workflow_handle(flusher_id(memory)).terminate()


async def test_two_memories_do_not_wait_for_one_another(temporal_address: str) -> None:
    holds = HoldsSignals()
    client = await Client.connect(temporal_address, interceptors=[holds])
    waker, project = TemporalWaker(client, unique("queue")), unique("project")
    memories = [MemoryId(project, "small", key) for key in ("a", "b")]

    async def both_are_under_way() -> bool:
        return holds.started == 2

    waking = [asyncio.create_task(waker.wake(memory)) for memory in memories]
    await eventually(both_are_under_way)
    holds.go.release()
    holds.go.release()
    await asyncio.gather(*waking)
    for memory in memories:
        await client.get_workflow_handle(flusher_id(memory)).terminate()


async def test_outside_activities_an_unsent_signal_leaves_the_caller_its_answer(temporal_address: str) -> None:
    loses = LosesSignals(every=1)
    client = await Client.connect(temporal_address, interceptors=[loses])
    await TemporalWaker(client, unique("queue")).wake(MemoryId(unique("project"), "small", "key"))
    assert loses.lost > 0


def test_the_id_of_a_flusher_tells_memories_apart_and_hides_the_key() -> None:
    ids = {
        flusher_id(MemoryId(project, resource, key))
        for project in ("p", "q")
        for resource in ("r", "s")
        for key in ("user:anna", "user:bert")
    }
    assert len(ids) == 8
    assert not any("anna" in workflow_id or "bert" in workflow_id for workflow_id in ids)
