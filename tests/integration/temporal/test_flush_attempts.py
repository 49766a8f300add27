"""Flushes whose attempts die, overlap or fail: one summary, and nothing is lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from durable_memory import MemoryClient, Registry
from durable_memory.activities import flush, wire
from durable_memory.activities.current import serving
from durable_memory.activities.waker import TemporalWaker
from durable_memory.memory.errors import MemoryWrongWorker
from tests.integration.temporal.background import flusher_ended, messages_accounted_for, texts
from tests.integration.temporal.declarations import DECLARATIONS
from tests.integration.temporal.flows.by_name import CallByName
from tests.integration.temporal.flows.calls import AppendMany, Flush
from tests.integration.temporal.flows.slow_flush import PASSES_ON, SILENCE, HurriedFlush
from tests.integration.temporal.observing import attempts_of, eventually
from tests.integration.temporal.rig import REGISTRY, Rig, plugin, running, unique
from tests.integration.temporal.summarizers import FailsWithoutType, FirstOutlivesItsTime, Gated


async def test_a_worker_that_stops_in_a_summary_hands_it_to_the_next_one(temporal_address: str, redis_url: str) -> None:
    project, stuck = unique("project"), Gated()
    client = await Client.connect(temporal_address, plugins=[plugin(redis_url, project, summarizer=stuck)])
    waker = TemporalWaker(client, f"flushes-of-{project}")
    async with await MemoryClient.connect(redis_url, memories=REGISTRY, project=project, waker=waker) as memories:
        memory = memories.memory("patient", "key")
        async with Worker(client, task_queue=f"flushes-of-{project}"):
            for text in texts(4):
                await memory.append(text)
            await stuck.asked()
        async with running(temporal_address, redis_url, project=project) as rig:
            await flusher_ended(rig, memory)
        assert stuck.calls == 1
        assert (await memory.stats()).messages["long_term"] == 1
        assert await messages_accounted_for(memory) == 4


async def test_an_attempt_that_outlives_its_time_beside_the_next_one_leaves_one_summary(
    temporal_address: str, redis_url: str
) -> None:
    summarizer = FirstOutlivesItsTime()
    async with running(temporal_address, redis_url, summarizer=summarizer, workflows=[HurriedFlush]) as rig:
        memory = rig.memory("patient", "key")
        await memory.append(texts(3))
        target = {"project": memory.id.project, "resource": "patient", "key": "key"}
        assert await rig.run(HurriedFlush.run, target, rig.flush_queue) == "committed"
        summarizer.let_go.set()
        await asyncio.wait_for(summarizer.first_answered.wait(), 60)
        assert summarizer.calls == 2
        shown = await rig.texts("patient", "key")
        assert len(shown) == 2
        assert shown[0].endswith("Written by the second attempt.")
        assert await messages_accounted_for(memory) == 3


async def test_a_summary_that_takes_longer_than_its_heartbeat_timeout_is_one_attempt(
    temporal_address: str, redis_url: str
) -> None:
    summarizer, project = Gated(), unique("project")
    async with running(
        temporal_address,
        redis_url,
        project=project,
        queue=f"flushes-of-{project}",
        summarizer=summarizer,
        workflows=[HurriedFlush],
        max_heartbeat_throttle_interval=PASSES_ON,
    ) as rig:
        memory = rig.memory("small", "key")
        await memory.append(texts(3))
        target = {"project": memory.id.project, "resource": "small", "key": "key"}
        handle = await rig.start(HurriedFlush.run, target, rig.flush_queue, True)  # noqa: FBT003 - is patient
        await summarizer.asked()
        await asyncio.sleep(SILENCE.total_seconds() + 1)  # also longer than its lease
        summarizer.gate.set()
        assert await handle.result() == "committed"
        assert await attempts_of(handle, wire.FLUSH_SUMMARIZE) == [1]
        assert summarizer.calls == 1


async def test_a_summariser_that_fails_five_times_changes_nothing_until_it_answers(
    temporal_address: str, redis_url: str
) -> None:
    summarizer = Gated(failures=5)
    async with running(temporal_address, redis_url, summarizer=summarizer) as rig:
        memory, written = rig.memory("small", "key"), texts(3)
        await rig.run(AppendMany.run, "small", ["key"], written)
        await summarizer.asked()
        assert summarizer.calls == 6
        assert await rig.texts("small", "key") == written
        summarizer.gate.set()
        await flusher_ended(rig, memory)
        assert await attempts_of(rig.flusher(memory), wire.FLUSH_SUMMARIZE) == [6]
        assert (await memory.stats()).messages["long_term"] == 1
        assert await messages_accounted_for(memory) == 3


async def test_a_summariser_whose_error_has_no_type_gives_its_batch_back(temporal_address: str, redis_url: str) -> None:
    async with running(temporal_address, redis_url, summarizer=FailsWithoutType()) as rig:
        memory = rig.memory("small", "key")
        await rig.run(AppendMany.run, "small", ["key"], texts(3))
        await flusher_ended(rig, memory)
        assert (await memory.stats()).last_flush_outcome == "failed: ApplicationError"


async def test_a_summariser_that_fails_for_good_is_noted_and_stops_neither_appends_nor_later_flushes(
    temporal_address: str, redis_url: str
) -> None:
    summarizer = Gated(failures=6)
    async with running(temporal_address, redis_url, summarizer=summarizer) as rig:
        memory, written = rig.memory("small", "key"), texts(3)
        await rig.run(AppendMany.run, "small", ["key"], written)
        await flusher_ended(rig, memory)
        assert summarizer.calls == 6
        assert (await memory.stats()).last_flush_outcome == "failed: MemoryUnavailable"
        health = await memory.health()
        assert not health.healthy
        assert health.problems[0] == "the last flush failed: MemoryUnavailable; it is tried again"
        assert await rig.texts("small", "key") == written

        await rig.run(AppendMany.run, "small", ["key"], ["Still accepted."])
        assert (await rig.texts("small", "key"))[-1] == "Still accepted."
        assert await rig.flusher_status(memory) == "RUNNING"  # asked again; waits for its pause to end

        summarizer.gate.set()
        assert await rig.run(Flush.run, "small", "key") == "committed"
        assert (await memory.health()).healthy
        assert await messages_accounted_for(memory) == 4
        await rig.flusher(memory).terminate()


async def test_an_empty_summary_replaces_nothing(temporal_address: str, redis_url: str) -> None:
    async with running(temporal_address, redis_url, summarizer=_Empty()) as rig:
        memory, written = rig.memory("small", "key"), texts(2)
        await memory.append(written)
        request = {"memory": {"resource": "small", "key": "key"}, "force": True}
        handle = await rig.start(CallByName.run, wire.FLUSH, request, 2)
        await eventually(lambda: _failed(rig, handle.id))
        assert await rig.texts("small", "key") == written


async def _failed(rig: Rig, workflow_id: str) -> bool:
    status = (await rig.client.get_workflow_handle(workflow_id).describe()).status
    return status is not None and status.name == "FAILED"


class _Empty:
    max_input_tokens: int | None = None

    async def summarize(self, request: object) -> str:  # noqa: ARG002 - whatever it is asked
        return "  \n"


async def test_health_says_which_worker_took_the_flush_of_another_project(redis_url: str) -> None:
    """Two projects that are told to share a queue: one serves the first step and the last one, the other the second."""
    steps, now = ActivityEnvironment(), datetime.now(UTC)
    steps.info = replace(steps.info, scheduled_time=now, started_time=now, current_attempt_scheduled_time=now)
    async with (
        await MemoryClient.connect(redis_url, memories=REGISTRY, project=unique("project")) as own,
        await MemoryClient.connect(redis_url, memories=REGISTRY, project=unique("project")) as foreign,
    ):
        memory = own.memory("small", "key")
        await memory.append(texts(4))
        target = {"project": memory.id.project, "resource": "small", "key": "key"}
        with serving(own):
            begun = await steps.run(flush.begin, {"target": target, "owner": "one", "force": False})
        batch = {"target": target, "batch": begun["batch"]}
        with serving(foreign), pytest.raises(MemoryWrongWorker, match="a queue of its own") as taken:
            await steps.run(flush.summarize, batch)
        with serving(own):
            await steps.run(flush.fail, {**batch, "error_type": taken.value.type})
        problem = (await memory.health()).problems[0]
        assert problem.startswith("the last flush failed: MemoryWrongWorker; a worker took it that serves another")
        assert "DURABLE_MEMORY_TASK_QUEUE" in problem


async def test_a_flush_that_a_worker_of_older_declarations_takes_goes_on_with_one_that_declares_the_memory(
    temporal_address: str, redis_url: str
) -> None:
    project = unique("project")
    older = Registry.from_resources([one for one in DECLARATIONS if one["id"] != "small"])
    appends = plugin(redis_url, project, companion=False)
    client = await Client.connect(temporal_address, plugins=[appends])
    old = await Client.connect(temporal_address, plugins=[plugin(redis_url, project, memories=older)])
    async with (
        await MemoryClient.connect(redis_url, memories=REGISTRY, project=project) as memories,
        Worker(client, task_queue=unique("queue"), workflows=[AppendMany]) as worker,
    ):
        rig = Rig(client, memories, worker.task_queue, f"flushes-of-{project}")
        memory = rig.memory("small", "key")

        async def was_refused() -> bool:
            pending = (await rig.flusher(memory).describe()).raw_description.pending_activities
            return [one.last_failure.application_failure_info.type for one in pending] == ["MemoryWrongWorker"]

        async with Worker(old, task_queue=rig.flush_queue):
            await rig.run(AppendMany.run, "small", ["key"], texts(4))
            await eventually(was_refused)
        async with Worker(client, task_queue=rig.flush_queue):
            await flusher_ended(rig, memory)
        assert await rig.flusher_status(memory) == "COMPLETED"
        assert (await memory.stats()).messages["long_term"] == 1
