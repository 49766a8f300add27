"""What a sweep does for memories whose resource its worker does not declare, or does not declare any more."""

from __future__ import annotations

import asyncio

from durable_memory import MemoryClient, Registry
from durable_memory.memory.identity import MemoryId, Owner
from tests.integration.janitor.sweeping import Counts, Sweeper
from tests.integration.temporal.background import flusher_ended, texts
from tests.integration.temporal.declarations import DECLARATIONS
from tests.integration.temporal.flows.endings import WORDS
from tests.integration.temporal.rig import unique


def without(by_hand: Sweeper, resource: str) -> MemoryClient:
    """The client of a worker that does not declare this resource."""
    declared = Registry.from_resources([one for one in DECLARATIONS if one["id"] != resource])
    return MemoryClient(declared, by_hand.client.parts.backends, project=by_hand.client.project)


async def ended_owner_of(by_hand: Sweeper, *resources: str) -> Owner:
    """Fills a memory of each resource; returns the workflow that owns them, which Temporal has forgotten."""
    owner = Owner(by_hand.rig.client.namespace, unique("forgotten"), "a-run")
    for resource in resources:
        memory = by_hand.rig.memory(resource, "key")
        await memory.append(WORDS)
        await by_hand.index.register(memory.id, owner)
    by_hand.runs.retention = 0
    await asyncio.sleep(0.01)
    return owner


async def test_a_memory_of_a_resource_that_is_no_longer_declared_stays_as_it_is(by_hand: Sweeper) -> None:
    gone = MemoryId(by_hand.client.project, "undeclared", "key")
    await by_hand.index.register(gone, Owner(by_hand.rig.client.namespace, unique("run"), "a-run"))
    by_hand.runs.retention = 0
    await asyncio.sleep(0.01)
    assert +await by_hand.sweep() == Counts({"owners": 1, "released": 1, "kept": 1, "memories": 1, "forgotten": 1})


async def test_no_flusher_is_woken_for_what_waits_in_a_memory_that_is_no_longer_declared(by_hand: Sweeper) -> None:
    memory = by_hand.rig.memory("narrow", "key")
    await memory.append(texts(6))  # by a process without Temporal
    assert (await memory.stats()).omitted.messages
    assert +await by_hand.sweep(client=without(by_hand, "narrow")) == Counts({"memories": 1})
    assert +await by_hand.sweep() == Counts({"memories": 1, "woken": 1})
    await flusher_ended(by_hand.rig, memory)


async def test_a_memory_whose_resource_only_newer_workers_declare_is_left_to_them_with_its_owner(
    by_hand: Sweeper,
) -> None:
    owner = await ended_owner_of(by_hand, "cleared", "scratch")
    by_an_older_one = without(by_hand, "cleared")
    for cleared in (1, 0):
        swept = await by_hand.sweep(client=by_an_older_one)
        assert (swept["released"], swept["cleared"], swept["failed"]) == (0, cleared, 0)
    assert await by_hand.rig.texts("cleared", "key") == [WORDS]
    swept = await by_hand.sweep()
    assert (swept["released"], swept["cleared"]) == (1, 1)
    assert await by_hand.rig.texts("cleared", "key") == []
    assert await by_hand.bindings(owner.workflow_id) == ()


async def test_what_is_settled_is_not_cleared_again_while_its_owner_waits_for_a_newer_worker(
    by_hand: Sweeper,
) -> None:
    owner = await ended_owner_of(by_hand, "cleared", "scratch")
    by_an_older_one = without(by_hand, "cleared")
    assert (await by_hand.sweep(client=by_an_older_one))["cleared"] == 1
    await by_hand.rig.memory("scratch", "key").append("of somebody else")
    for _ in range(2):
        assert (await by_hand.sweep(client=by_an_older_one))["cleared"] == 0
    assert await by_hand.rig.texts("scratch", "key") == ["of somebody else"]
    assert [binding.memory.resource for binding in await by_hand.bindings(owner.workflow_id)] == ["cleared"]
    assert (await by_hand.sweep())["released"] == 1
    assert await by_hand.rig.texts("scratch", "key") == ["of somebody else"]
