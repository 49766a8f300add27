"""Memories that outlive every workflow have no owners, and what was written so is cleared for no newcomer."""

from __future__ import annotations

import asyncio

from durable_memory import Registry
from tests.integration.janitor.sweeping import Counts, Sweeper, appended
from tests.integration.temporal.flows.endings import WORDS, End
from tests.integration.temporal.rig import running


async def test_what_outlives_every_workflow_has_no_owners(by_hand: Sweeper) -> None:
    handle = await by_hand.rig.start(End.run, "chat", "user:42", "wait")
    await appended(by_hand.rig, "chat", "user:42")
    assert await by_hand.bindings(handle.id) == ()
    assert +await by_hand.sweep() == Counts({"memories": 1})
    await handle.terminate()
    assert +await by_hand.sweep() == Counts({"memories": 1})
    assert await by_hand.rig.texts("chat", "user:42") == [WORDS]


async def test_what_a_running_workflow_wrote_when_it_had_no_owners_is_cleared_for_no_newcomer(
    by_hand: Sweeper, temporal_address: str, redis_url: str
) -> None:
    older = await by_hand.rig.start(End.run, "chat", "user:42", "wait")
    await appended(by_hand.rig, "chat", "user:42")
    newer = Registry.from_resources([{"resource": "memory", "id": "chat", "max_tokens": 4000, "scope": "temp"}])
    async with running(
        temporal_address, redis_url, registry=newer, project=by_hand.client.project, workflows=[End]
    ) as after:
        await after.run(End.run, "chat", "user:42", "return")
        assert await after.texts("chat", "user:42") == [WORDS, WORDS]
        # One that begins under the new declaration has all its owners.
        await after.run(End.run, "chat", "user:43", "return")
        assert await after.texts("chat", "user:43") == []
        await older.terminate()
        await by_hand.sweep()
        assert await after.texts("chat", "user:42") == [WORDS, WORDS]
        # So has one that is made anew once the janitor has seen that it is gone.
        await after.memories.purge("chat", prefix="user:42", dry_run=False, confirm=True)
        await asyncio.sleep(0.01)
        await by_hand.sweep()
        await after.run(End.run, "chat", "user:42", "return")
        assert await after.texts("chat", "user:42") == []
