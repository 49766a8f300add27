"""A budget that is lowered under a memory: the next append wakes its flusher, which makes the summary fit."""

from __future__ import annotations

from typing import Any

from durable_memory import Registry
from durable_memory.activities import wire
from tests.integration.temporal.background import flusher_ended, texts
from tests.integration.temporal.flows.conversations import AppendMany
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
