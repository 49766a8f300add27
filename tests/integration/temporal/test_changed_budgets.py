"""A budget that is lowered under a memory: its next append, or the janitor, wakes its flusher, which makes it fit."""

from __future__ import annotations

from typing import Any

from durable_memory import Registry
from durable_memory.activities import wire
from durable_memory.activities.runs import TemporalRuns
from durable_memory.activities.waker import TemporalWaker
from durable_memory.memory.janitor.sweep import Janitor
from tests.integration.temporal.background import flusher_ended, messages_accounted_for, texts
from tests.integration.temporal.flows.calls import AppendMany, Read
from tests.integration.temporal.observing import activities_of
from tests.integration.temporal.rig import running, unique

LARGE = {"max_tokens": 6_000, "flushing": {"keep_last": 0}}
SMALL = {"max_tokens": 500, "flushing": {"keep_last": 0}}


def declared(fields: dict[str, Any]) -> Registry:
    """One memory with these fields."""
    return Registry.from_resources([{"resource": "memory", "id": "desk", "scope": "user", **fields}])


async def test_a_workflow_appends_under_a_lowered_budget_and_the_summary_shrinks(
    temporal_address: str, redis_url: str
) -> None:
    project, key = unique("project"), unique("key")
    async with running(temporal_address, redis_url, registry=declared(LARGE), project=project) as rig:
        await rig.run(AppendMany.run, "desk", [key], texts(30))
        await flusher_ended(rig, rig.memory("desk", key))
        await rig.memory("desk", key).flush(force=True)
        assert (await rig.memory("desk", key).stats()).tokens["long_term"] > 100
    async with running(temporal_address, redis_url, registry=declared(SMALL), project=project) as rig:
        memory = rig.memory("desk", key)
        await rig.run(AppendMany.run, "desk", [key], ["One more parcel."])
        await flusher_ended(rig, memory)
        stats = await memory.stats()
        assert (stats.flush_due, (await memory.read()).omitted.messages) == (False, 0)
        assert stats.tokens["long_term"] <= 50
        assert stats.messages["short_term"] == 1
        assert (await activities_of(rig.flusher(memory)))[-4:] == [
            wire.FLUSH_BEGIN,
            wire.FLUSH_SUMMARIZE,
            wire.FLUSH_COMMIT,
            wire.FLUSH_BEGIN,
        ]


async def test_a_memory_that_is_only_read_under_a_lowered_budget_is_flushed_by_the_janitor(
    temporal_address: str, redis_url: str
) -> None:
    project, key = unique("project"), unique("key")
    async with running(temporal_address, redis_url, registry=declared(LARGE), project=project) as rig:
        await rig.run(AppendMany.run, "desk", [key], texts(10))
        assert (await rig.memory("desk", key).stats()).flush_due is False
    async with running(temporal_address, redis_url, registry=declared(SMALL), project=project) as rig:
        memory = rig.memory("desk", key)
        shown, before = await rig.run(Read.run, "desk", key), await memory.read()
        assert (before.flush_due, before.tokens <= 500, before.omitted.messages) == (True, True, 10 - shown)
        assert await rig.flusher_status(memory) == "NEVER"
        wake = TemporalWaker(rig.client, rig.flush_queue).tell
        swept = await Janitor(rig.memories, TemporalRuns(rig.client), wake).sweep()
        assert swept.counts["woken"] == 1
        await flusher_ended(rig, memory)
        after = await memory.read()
        assert (after.flush_due, after.omitted.messages) == (False, 0)
        assert await messages_accounted_for(memory) == 10
