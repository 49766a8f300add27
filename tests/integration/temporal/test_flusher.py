"""The background flush: whoever makes a memory due wakes its flusher, and no memory is forgotten."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import NamedTuple

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Interceptor
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.plugin import SimplePlugin
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import WorkerConfig

from durable_memory.activities import wire
from durable_memory.activities.waker import TemporalWaker
from durable_memory.dev.temporal import find_program
from durable_memory.memory.memory import Memory
from durable_memory.memory.stores.values import Batch, FlushOptions
from durable_memory.memory.task_queues import summaries_queue
from durable_memory.workflows import flusher
from tests.integration.temporal.background import flusher_ended, messages_accounted_for, texts
from tests.integration.temporal.flows.calls import AppendMany, Flush, LeaveFlush
from tests.integration.temporal.holding import HoldsAnswers
from tests.integration.temporal.observing import activities_of, event_types_of, eventually
from tests.integration.temporal.rig import Rig, running, unique
from tests.integration.temporal.signals import LosesSignals
from tests.integration.temporal.summarizers import Gated


class HeldSummary(NamedTuple):
    """A flush whose summary is being written: the memory `small` of the key `key`, and the summariser at its gate."""

    rig: Rig
    memory: Memory
    summarizer: Gated


@pytest.fixture
async def summary_at_the_gate(temporal_address: str, redis_url: str) -> AsyncIterator[HeldSummary]:
    """A flush that goes on when the test opens the gate."""
    summarizer = Gated()
    async with running(temporal_address, redis_url, summarizer=summarizer) as rig:
        memory = rig.memory("small", "key")
        await rig.run(AppendMany.run, "small", ["key"], texts(4))
        await summarizer.asked()
        yield HeldSummary(rig, memory, summarizer)


@pytest.mark.parametrize("interceptors", [[], [LosesSignals(every=4)]], ids=["signals arrive", "signals get lost"])
async def test_of_forty_memories_poked_at_random_none_stays_above_its_threshold(
    temporal_address: str, redis_url: str, interceptors: Sequence[Interceptor]
) -> None:
    async with running(temporal_address, redis_url, interceptors=interceptors) as rig:
        keys = [f"poked-{number}" for number in range(40)]
        await asyncio.gather(*(rig.run(AppendMany.run, "small", keys, texts(20)) for _ in range(8)))
        memories = [rig.memory("small", key) for key in keys]
        for memory in memories:
            await flusher_ended(rig, memory)
        all_stats = [await memory.stats() for memory in memories]
        assert [stats.flush_due for stats in all_stats] == [False] * 40
        assert sum(stats.messages["long_term"] for stats in all_stats) > 15
        assert sum([await messages_accounted_for(memory) for memory in memories]) == 160
    assert all(loses.lost > 5 for loses in interceptors if isinstance(loses, LosesSignals))


async def test_a_flusher_runs_on_the_projects_queue_and_its_id_does_not_tell_the_key(rig: Rig) -> None:
    key = unique("anna@example.org")
    memory = rig.memory("small", key)
    await rig.run(AppendMany.run, "small", [key], texts(5))
    await flusher_ended(rig, memory)
    described = await rig.flusher(memory).describe()
    assert described.task_queue == rig.flush_queue != rig.queue
    assert re.fullmatch(rf"memory-flush/{memory.id.project}/small/[0-9a-f]{{32}}", described.id)
    assert described.status is not None
    assert described.status.name == "COMPLETED"


async def test_a_flusher_works_until_nothing_is_due_and_its_history_carries_no_message(rig: Rig) -> None:
    key = unique("key")
    memory = rig.memory("small", key)
    await rig.run(AppendMany.run, "small", [key], texts(5))
    await flusher_ended(rig, memory)
    assert (await activities_of(rig.flusher(memory)))[-4:] == [
        wire.FLUSH_BEGIN,
        wire.FLUSH_SUMMARIZE,
        wire.FLUSH_COMMIT,
        wire.FLUSH_BEGIN,
    ]
    history = (await rig.flusher(memory).fetch_history()).to_json()
    assert "parcel" not in history
    assert "depot" not in history


async def test_a_flush_that_is_not_waited_for_is_done_by_the_flusher(rig: Rig) -> None:
    key = unique("key")
    memory = rig.memory("small", key)
    await memory.append(["One parcel.", "Two parcels.", "Three parcels."])
    assert await rig.run(LeaveFlush.run, "small", key) == "signalled"
    await flusher_ended(rig, memory)
    assert (await memory.stats()).messages == {"system": 0, "long_term": 1, "short_term": 1}


async def test_a_memory_that_drops_is_flushed_without_a_summary(rig: Rig) -> None:
    key = unique("key")
    memory = rig.memory("ring", key)
    await rig.run(AppendMany.run, "ring", [key], texts(6))
    await flusher_ended(rig, memory)
    stats = await memory.stats()
    assert stats.last_flush_outcome == "dropped"
    assert not stats.flush_due
    assert stats.messages["long_term"] == 0
    assert set(await activities_of(rig.flusher(memory))) == {wire.FLUSH_BEGIN}


async def test_appends_do_not_wait_for_a_flush_and_what_they_write_stays(summary_at_the_gate: HeldSummary) -> None:
    rig, memory, summarizer = summary_at_the_gate
    await rig.run(AppendMany.run, "small", ["key"], ["Written during the flush."])
    assert (await rig.texts("small", "key"))[-1] == "Written during the flush."
    summarizer.gate.set()
    await flusher_ended(rig, memory)
    assert (await rig.texts("small", "key"))[-1] == "Written during the flush."
    assert (await memory.stats()).messages["long_term"] == 1
    assert await messages_accounted_for(memory) == 5


async def test_an_append_between_the_last_question_of_a_flusher_and_its_end_is_not_forgotten(
    temporal_address: str, redis_url: str
) -> None:
    holds = HoldsAnswers(wire.FLUSH_BEGIN, outcome="nothing")
    async with running(temporal_address, redis_url, interceptors=[holds]) as rig:
        memory = rig.memory("small", "key")
        await rig.run(AppendMany.run, "small", ["key"], texts(4))
        await holds.held()  # the store has answered that nothing is due; the flusher does not know it yet
        await rig.run(AppendMany.run, "small", ["key"], texts(3))
        assert (await memory.stats()).flush_due
        holds.gate.set()
        await flusher_ended(rig, memory)
        assert not (await memory.stats()).flush_due
        assert await messages_accounted_for(memory) == 7


async def test_a_second_flusher_of_the_same_memory_is_refused(summary_at_the_gate: HeldSummary) -> None:
    rig, memory, summarizer = summary_at_the_gate
    with pytest.raises(WorkflowAlreadyStartedError):
        await rig.client.start_workflow(
            wire.FLUSHER, {"target": {}}, id=rig.flusher(memory).id, task_queue=rig.flush_queue
        )
    summarizer.gate.set()
    await flusher_ended(rig, memory)


async def test_a_manual_flush_beside_the_flusher_is_told_that_it_is_busy(summary_at_the_gate: HeldSummary) -> None:
    rig, memory, summarizer = summary_at_the_gate
    assert await rig.run(Flush.run, "small", "key") == "busy"
    summarizer.gate.set()
    await flusher_ended(rig, memory)
    assert summarizer.calls == 1
    assert (await memory.stats()).messages["long_term"] == 1


async def test_the_flusher_waits_for_a_manual_flush_and_finishes_what_is_left(
    temporal_address: str, redis_url: str
) -> None:
    summarizer = Gated()
    async with running(temporal_address, redis_url, summarizer=summarizer) as rig:
        memory = rig.memory("small", "key")
        await memory.append(texts(2))
        manual = await rig.start(Flush.run, "small", "key")
        await summarizer.asked()
        await rig.run(AppendMany.run, "small", ["key"], texts(5))
        assert await rig.flusher_status(memory) == "RUNNING"
        summarizer.gate.set()
        assert await manual.result() == "committed"
        await flusher_ended(rig, memory)
        stats = await memory.stats()
        assert not stats.flush_due
        assert await messages_accounted_for(memory) == 7


async def test_a_lease_whose_holder_died_ends_by_itself(rig: Rig) -> None:
    key = unique("key")
    memory = rig.memory("small", key)
    await memory.append(texts(2))
    declared = rig.memories.registry.memory("small")
    flush = rig.memories.parts.services(declared).flush
    held = await flush.begin(
        memory.id, "a dead owner", declared.limits(), FlushOptions(force=True), attempt_ends_ms=2**52
    )
    # One append and one signal: the flusher has to come back by itself.
    await rig.run(AppendMany.run, "small", [key], texts(1))
    await flusher_ended(rig, memory)
    assert (await memory.stats()).last_flush_outcome == "committed"
    assert isinstance(held, Batch)
    late = await flush.commit(memory.id, held, declared.limits(), deadline_ms=2**52)
    assert late.outcome in ("stale", "gone")
    assert await messages_accounted_for(memory) == 3


async def test_a_terminated_flusher_is_replaced_at_the_next_append(summary_at_the_gate: HeldSummary) -> None:
    rig, memory, summarizer = summary_at_the_gate
    await rig.flusher(memory).terminate()
    assert (await memory.stats()).flush_due
    summarizer.gate.set()
    await rig.run(AppendMany.run, "small", ["key"], ["Somebody looks at it again."])
    await flusher_ended(rig, memory)
    stats = await memory.stats()
    assert (stats.flush_due, stats.messages["long_term"]) == (False, 1)
    assert await messages_accounted_for(memory) == 5


async def test_continue_as_new_carries_what_signals_asked_for(redis_url: str) -> None:
    summarizer = Gated()
    async with (
        await WorkflowEnvironment.start_local(
            dev_server_existing_path=str(find_program()),
            dev_server_extra_args=["--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=10"],
        ) as server,
        running(server.client.service_client.config.target_host, redis_url, summarizer=summarizer) as rig,
    ):
        memory = rig.memory("small", "key")
        await rig.run(AppendMany.run, "small", ["key"], texts(10, sentences=1))
        await summarizer.asked()
        first = (await rig.flusher(memory).describe()).run_id
        await rig.flusher(memory).signal(wire.FLUSH_DUE, True)  # noqa: FBT003 - the signal's one argument
        summarizer.gate.set()
        await flusher_ended(rig, memory)
        run = rig.client.get_workflow_handle(rig.flusher(memory).id, run_id=first)
        described = await run.describe()
        assert described.status is not None
        assert described.status.name == "CONTINUED_AS_NEW"
        # Unforced, a flush stops at the target, some messages earlier: that only keep_last is left shows the force.
        assert (await memory.stats()).messages["short_term"] == 1
        assert await messages_accounted_for(memory) == 10


async def test_a_flusher_that_may_take_no_more_signals_holds_no_append_up_and_forgets_none(redis_url: str) -> None:
    holds = HoldsAnswers(wire.FLUSH_BEGIN, outcome="nothing")
    limits = ("limit.historyCount.suggestContinueAsNew=20", "history.maximumSignalsPerExecution=3")
    async with (
        await WorkflowEnvironment.start_local(
            dev_server_existing_path=str(find_program()),
            dev_server_extra_args=[word for limit in limits for word in ("--dynamic-config-value", limit)],
        ) as server,
        running(server.client.service_client.config.target_host, redis_url, interceptors=[holds]) as rig,
    ):
        memory = rig.memory("small", "key")
        await memory.append("Hello.")
        await TemporalWaker(rig.client, rig.flush_queue).tell(memory.id)
        await holds.held()
        running_flusher = rig.flusher(memory)

        async def heard() -> bool:
            return (await event_types_of(running_flusher))[-1] == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED

        for _ in range(2):
            await running_flusher.signal(wire.FLUSH_DUE)
            await eventually(heard)  # one task for each: the history counts 20 events after the next round, not before
        first_gate, holds.gate = holds.gate, asyncio.Event()
        holds.holding.clear()
        first_gate.set()
        await holds.held()  # it has heard all signals that it may, and asked for the last time
        await rig.run(AppendMany.run, "small", ["key"], texts(4), execution_timeout=timedelta(seconds=60))
        assert (await memory.stats()).flush_due
        holds.gate.set()
        await flusher_ended(rig, memory)
        assert not (await memory.stats()).flush_due
        assert await messages_accounted_for(memory) == 5


class Misleading(SimplePlugin):
    """Lets the worker for summaries poll another queue: nobody polls theirs then, as under a release that knew none."""

    def configure_worker(self, config: WorkerConfig) -> WorkerConfig:
        queue = config.get("task_queue", "")
        if queue.endswith(summaries_queue("")):
            config["task_queue"] = unique("nobody's")
        return super().configure_worker(config)


async def test_a_flusher_whose_summary_nobody_takes_up_gives_the_flush_back_and_ends(
    temporal_address: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert flusher.SUMMARIZE.get("schedule_to_start_timeout") == timedelta(hours=1)
    monkeypatch.setitem(flusher.SUMMARIZE, "schedule_to_start_timeout", timedelta(seconds=1))
    misleading = Misleading("tests.Misleading")
    async with running(temporal_address, redis_url, summarizer=Gated(), plugins=[misleading]) as rig:
        memory = rig.memory("patient", "key")
        await memory.append(texts(4))
        await TemporalWaker(rig.client, rig.flush_queue).wake(memory.id)
        await flusher_ended(rig, memory)
        stats = await memory.stats()
        assert stats.last_flush_outcome == "failed: TimeoutError"
        assert stats.flushing_owner is None
