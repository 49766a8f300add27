"""Summaries by a model, run durably: attempts, fallback, and a queue of their own that holds nobody else up."""

from __future__ import annotations

import asyncio
import json

import pytest
from temporalio.client import WorkflowHandle

from durable_memory.activities import wire
from durable_memory.memory.memory import Memory
from tests.integration.llm.endpoint import SUMMARY, Endpoint, Fails, Says
from tests.integration.llm.rig import RULES, declared, desk
from tests.integration.temporal.background import messages_accounted_for, texts
from tests.integration.temporal.flows.calls import AppendMany
from tests.integration.temporal.observing import attempts_of, eventually

SOON = {"retry-after-ms": "10"}


async def summary_of(memory: Memory) -> str:
    (summary,) = [message for message in (await memory.read()).messages if message.section == "long_term"]
    return summary.text


async def asked(service: Endpoint, times: int = 1) -> None:
    async def enough() -> bool:
        return len(service.requests) >= times

    await eventually(enough)


async def test_a_model_that_fails_five_times_changes_nothing_until_it_answers_once(
    temporal_address: str, redis_url: str, service: Endpoint
) -> None:
    gate = asyncio.Event()
    service.script.extend([Fails(429, SOON), Fails(500, SOON), Fails(503, SOON), Fails(529, SOON), Fails(429, SOON)])
    service.default = Says(gate=gate)
    async with desk(temporal_address, redis_url, [declared("desk", service.url)]) as rig:
        memory, written = rig.memory("desk", "key"), texts(3)
        await rig.run(AppendMany.run, "desk", ["key"], written)
        await asked(service, 6)
        assert await rig.texts("desk", "key") == written
        gate.set()
        await rig.flushed(memory)
        assert len(service.requests) == 6
        assert await attempts_of(rig.flusher(memory), wire.FLUSH_SUMMARIZE) == [6]
        assert (await summary_of(memory)).endswith(SUMMARY)
        assert await messages_accounted_for(memory) == 3


@pytest.mark.parametrize("reply", [Fails(500, SOON), Fails(401)], ids=["down", "wrong-key"])
async def test_after_its_attempts_the_rules_write_the_summary(
    temporal_address: str, redis_url: str, service: Endpoint, reply: Fails
) -> None:
    service.default = reply
    attempts = 6 if reply.status == 500 else 1
    async with desk(temporal_address, redis_url, [declared("desk", service.url)]) as rig:
        memory = rig.memory("desk", "key")
        await rig.run(AppendMany.run, "desk", ["key"], texts(3))
        await rig.flushed(memory)
        assert len(service.requests) == attempts
        assert "The parcel" in await summary_of(memory)
        assert await messages_accounted_for(memory) == 3
        assert (await memory.health()).healthy


async def test_without_a_fallback_the_messages_wait_and_health_says_why(
    temporal_address: str, redis_url: str, service: Endpoint
) -> None:
    service.default = Fails(401)
    async with desk(temporal_address, redis_url, [declared("desk", service.url, fallback="none")]) as rig:
        memory, written = rig.memory("desk", "key"), texts(3)
        await rig.run(AppendMany.run, "desk", ["key"], written)
        await rig.flushed(memory)
        assert len(service.requests) == 1
        assert await rig.texts("desk", "key") == written
        problems = " ".join((await memory.health()).problems)
        assert "the last flush failed: MemoryModelRefused; " in problems


async def test_a_forced_flush_does_not_wait_for_the_pause_after_a_failed_one(
    temporal_address: str, redis_url: str, service: Endpoint
) -> None:
    service.script.append(Fails(401))
    async with desk(temporal_address, redis_url, [declared("desk", service.url, fallback="none")]) as rig:
        memory = rig.memory("desk", "key")
        await rig.run(AppendMany.run, "desk", ["key"], texts(3))
        await rig.flushed(memory)
        await rig.run(AppendMany.run, "desk", ["key"], ["Asks again, and finds the pause."])
        pausing = rig.flusher(memory)
        await eventually(lambda: _waits_for_a_timer(pausing))
        await pausing.signal(wire.FLUSH_DUE, args=[True])
        await asked(service, 2)
        await rig.flushed(memory)
        assert (await summary_of(memory)).endswith(SUMMARY)


async def _waits_for_a_timer(handle: WorkflowHandle[object, object]) -> bool:
    return any(event.HasField("timer_started_event_attributes") for event in (await handle.fetch_history()).events)


async def test_a_model_that_hangs_holds_up_neither_appends_nor_other_flushes(
    temporal_address: str, redis_url: str, service: Endpoint
) -> None:
    gate = asyncio.Event()
    service.default = Says(gate=gate)
    declarations = [declared("slow", service.url), RULES]
    async with desk(temporal_address, redis_url, declarations, summary_slots=1) as rig:
        hanging, waiting, other = rig.memory("slow", "one"), rig.memory("slow", "two"), rig.memory("rules", "key")
        await rig.run(AppendMany.run, "slow", ["one"], texts(3))
        await asked(service)
        await rig.run(AppendMany.run, "slow", ["two"], texts(3))
        # The model has not answered, and its one slot is taken: everything else goes on.
        for number in range(3):
            await rig.run(AppendMany.run, "slow", ["one"], [f"Meanwhile {number}."])
        await rig.run(AppendMany.run, "rules", ["key"], texts(3))
        await rig.flushed(other)
        assert (await other.stats()).messages["long_term"] == 1
        assert [await rig.flusher_status(memory) for memory in (hanging, waiting)] == ["RUNNING", "RUNNING"]
        assert len(service.requests) == 1
        assert (await rig.texts("slow", "one"))[-3:] == [f"Meanwhile {number}." for number in range(3)]
        gate.set()
        await rig.flushed(hanging)
        await rig.flushed(waiting)
        for memory, total in ((hanging, 6), (waiting, 3)):
            assert (await summary_of(memory)).endswith(SUMMARY)
            assert await messages_accounted_for(memory) == total


async def test_neither_key_nor_content_of_a_failed_summary_stands_in_the_history(
    temporal_address: str, redis_url: str, service: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY_OF_THIS_TEST", "sk-planted-secret")
    service.script.extend([Fails(500, SOON), Says("I cannot help with parcels.")])
    declaration = declared("desk", service.url, api_key_env="KEY_OF_THIS_TEST")
    async with desk(temporal_address, redis_url, [declaration]) as rig:
        memory = rig.memory("desk", "key")
        await memory.append(texts(3))
        await rig.run(AppendMany.run, "desk", ["key"], ["Wakes the flusher."])
        await rig.flushed(memory)
        assert service.keys[0] == "Bearer sk-planted-secret"
        history = json.dumps((await rig.flusher(memory).fetch_history()).to_json_dict())
        assert "sk-planted-secret" not in history
        assert "parcel" not in history.lower()
        assert "Anna" not in history
