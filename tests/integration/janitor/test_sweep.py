"""What one sweep does, with ports that fail, stop and race as servers and processes do."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

import pytest
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.testing import WorkflowEnvironment

from durable_memory import MemoryClient, MemoryStats
from durable_memory.activities import wire
from durable_memory.dev.temporal import find_program
from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.backend import Backend
from tests.integration.flushing.scene import wrapped
from tests.integration.janitor.ports import BeforeClear, StopsAt
from tests.integration.janitor.sweeping import Counts, Sweeper, appended, damage, delete_for_good, next_run, sweeper
from tests.integration.temporal.flows.by_name import CallByName
from tests.integration.temporal.flows.endings import WORDS, End
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import REGISTRY, running, unique

Handle = WorkflowHandle[object, str]

FORGETS_QUICKLY = [
    *("--dynamic-config-value", 'history.transferProcessorUpdateAckInterval="100ms"'),
    *("--dynamic-config-value", 'history.visibilityProcessorUpdateAckInterval="100ms"'),
]
"""Options of a dev server, which would take half a minute to delete a workflow."""


async def terminated(by_hand: Sweeper, *keys: str, resource: str = "scratch", messages: int = 1) -> list[Handle]:
    """Workflows that wrote to a memory each, whose messages are then so many, and were terminated."""
    handles = [await by_hand.rig.start(End.run, resource, key, "wait") for key in keys]
    for key, handle in zip(keys, handles, strict=True):
        await appended(by_hand.rig, resource, key, messages)
        await handle.terminate()
    return handles


async def test_a_sweep_counts_what_it_saw_and_did(by_hand: Sweeper) -> None:
    await terminated(by_hand, "dead")
    living = await by_hand.rig.start(End.run, "kept", "living", "wait")
    await appended(by_hand.rig, "kept", "living")
    counts = await by_hand.sweep()
    done = {"owners": 2, "living": 1, "released": 1, "cleared": 1, "memories": 2, "forgotten": 1}
    assert +counts == Counts(done)
    assert +await by_hand.sweep() == Counts({"owners": 1, "living": 1, "memories": 1})
    await living.terminate()
    assert +await by_hand.sweep() == Counts({"owners": 1, "released": 1, "kept": 1, "memories": 1})


# What Temporal does not say


async def test_a_workflow_that_the_namespace_forgot_is_settled_only_after_its_retention(redis_url: str) -> None:
    async with (
        await WorkflowEnvironment.start_local(
            dev_server_existing_path=str(find_program()), dev_server_extra_args=FORGETS_QUICKLY
        ) as server,
        running(server.client.service_client.config.target_host, redis_url) as rig,
        sweeper(rig, redis_url) as by_hand,
    ):
        [dead] = await terminated(by_hand, "dead")
        await delete_for_good(rig, dead.id)
        for by_hand.runs.retention_fails in (True, False):
            counts = await by_hand.sweep()
            assert (counts["unknown"], counts["released"]) == (1, 0)
            assert await rig.texts("scratch", "dead") == [WORDS]
        by_hand.runs.retention = 0
        counts = await by_hand.sweep()
        assert (counts["unknown"], counts["cleared"]) == (0, 1)
        await by_hand.nothing_is_left("scratch", "dead", dead.id)


async def test_an_error_of_temporal_deletes_nothing(by_hand: Sweeper) -> None:
    [dead] = await terminated(by_hand, "dead")
    by_hand.runs.fails = lambda _: True
    for _ in range(3):
        counts = await by_hand.sweep()
        assert (counts["unknown"], counts["released"], counts["failed"]) == (1, 0, 0)
    assert await by_hand.rig.texts("scratch", "dead") == [WORDS]
    assert len(await by_hand.bindings(dead.id)) == 1
    by_hand.runs.fails = lambda _: False
    assert (await by_hand.sweep())["cleared"] == 1


async def test_an_error_about_an_earlier_run_deletes_nothing_of_it(by_hand: Sweeper) -> None:
    workflow_id = unique("run")
    await by_hand.rig.start(End.run, "scratch", "old", "wait", id=workflow_id)
    await appended(by_hand.rig, "scratch", "old")
    await by_hand.rig.start(
        End.run,
        "scratch",
        "new",
        "wait",
        id=workflow_id,
        id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
    )
    await appended(by_hand.rig, "scratch", "new")
    by_hand.runs.fails = lambda run_id: run_id is not None
    counts = await by_hand.sweep()
    assert (counts["unknown"], counts["cleared"]) == (1, 0)
    assert await by_hand.rig.texts("scratch", "old") == [WORDS]
    by_hand.runs.fails = lambda _: False
    assert (await by_hand.sweep())["cleared"] == 1
    assert await by_hand.rig.texts("scratch", "new") == [WORDS]


async def test_a_run_that_is_gone_leaves_no_doubt_of_what_the_open_run_writes_to_as_well(by_hand: Sweeper) -> None:
    first = await by_hand.rig.start(End.run, "kept", "key", "continue as new")
    chain = by_hand.rig.client.get_workflow_handle(first.id)
    open_run = await next_run(chain, str(first.first_execution_run_id))
    by_hand.runs.fails = lambda run_id: run_id is not None
    assert (await by_hand.sweep())["unknown"] == 1
    owner = Owner(by_hand.rig.client.namespace, chain.id, open_run)
    await by_hand.index.register(by_hand.rig.memory("kept", "key").id, owner)
    assert +await by_hand.sweep() == Counts({"owners": 1, "living": 1, "memories": 1})
    await chain.terminate()


async def test_an_owner_in_a_namespace_that_cannot_be_asked_is_left_alone(by_hand: Sweeper) -> None:
    memory = by_hand.rig.memory("scratch", "foreign")
    await memory.append(WORDS)
    await by_hand.index.register(memory.id, Owner("no-such-namespace", "some-workflow", "some-run"))
    assert (await by_hand.sweep())["unknown"] == 1
    assert await by_hand.rig.texts("scratch", "foreign") == [WORDS]


# Others at the same time


async def test_a_straggler_of_a_terminated_run_does_not_hide_the_run_that_took_over(by_hand: Sweeper) -> None:
    workflow_id = unique("run")
    first = await by_hand.rig.start(End.run, "scratch", "shared", "wait", id=workflow_id)
    await appended(by_hand.rig, "scratch", "shared")
    await by_hand.rig.start(
        End.run,
        "scratch",
        "shared",
        "wait",
        id=workflow_id,
        id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
    )
    await appended(by_hand.rig, "scratch", "shared", messages=2)
    memory, run = by_hand.rig.memory("scratch", "shared"), str(first.first_execution_run_id)
    await by_hand.index.register(memory.id, Owner(by_hand.rig.client.namespace, workflow_id, run))
    counts = await by_hand.sweep()
    assert (counts["living"], counts["cleared"], counts["released"]) == (1, 0, 0)
    assert await by_hand.rig.texts("scratch", "shared") == [WORDS, WORDS]


async def test_a_late_cleanup_of_a_replaced_run_leaves_what_its_successor_wrote_to(by_hand: Sweeper) -> None:
    workflow_id, options = unique("run"), {"id_conflict_policy": WorkflowIDConflictPolicy.TERMINATE_EXISTING}
    first = await by_hand.rig.start(End.run, "scratch", "shared", "wait", id=workflow_id)
    await appended(by_hand.rig, "scratch", "shared")
    await by_hand.rig.start(End.run, "scratch", "shared", "wait", id=workflow_id, **options)
    await appended(by_hand.rig, "scratch", "shared", messages=2)
    late = {"workflow_id": workflow_id, "run_id": first.first_execution_run_id}
    done = await by_hand.rig.run(CallByName.run, wire.CLEANUP, late)
    assert done == {"released": 0, "kept": 0, "flushed": 0, "cleared": 0}
    assert await by_hand.rig.texts("scratch", "shared") == [WORDS, WORDS]


async def test_who_joins_while_a_memory_is_settled_keeps_it(by_hand: Sweeper) -> None:
    [dead] = await terminated(by_hand, "shared")

    async def somebody_joins() -> None:
        await by_hand.rig.start(End.run, "scratch", "shared", "wait")
        await appended(by_hand.rig, "scratch", "shared", messages=2)

    def bend(backend: Backend) -> Backend:
        return replace(backend, store=BeforeClear(backend.store, somebody_joins))

    counts = await by_hand.sweep(client=by_hand.with_ports(bend))
    assert (counts["cleared"], counts["released"], counts["failed"]) == (0, 1, 0)
    assert await by_hand.rig.texts("scratch", "shared") == [WORDS, WORDS]
    assert await by_hand.bindings(dead.id) == ()


async def test_two_janitors_at_once_do_what_one_does(by_hand: Sweeper) -> None:
    keys = [f"key-{number}" for number in range(12)]
    dead = [*await terminated(by_hand, *keys), *await terminated(by_hand, *keys, messages=2)]
    summarised = await terminated(by_hand, "to-flush", resource="flushed")
    both = await asyncio.gather(by_hand.sweep(), by_hand.sweep())
    assert sum(counts["failed"] for counts in both) == 0
    for handle in (*dead, *summarised):
        assert await by_hand.bindings(handle.id) == ()
    for key in keys:
        assert await by_hand.rig.texts("scratch", key) == []
    assert +await by_hand.sweep() == Counts({"memories": 1})


async def test_a_janitor_killed_between_settling_and_releasing_is_repeated_harmlessly(by_hand: Sweeper) -> None:
    [dead] = await terminated(by_hand, "key")
    index = StopsAt(by_hand.index, "release")
    dying = asyncio.create_task(by_hand.sweep(client=by_hand.with_ports(lambda backend: replace(backend, index=index))))
    await index.reached.wait()
    dying.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await dying
    assert await by_hand.rig.texts("scratch", "key") == []
    assert len(await by_hand.bindings(dead.id)) == 1
    await by_hand.rig.start(End.run, "scratch", "key", "wait")
    await appended(by_hand.rig, "scratch", "key")
    counts = await by_hand.sweep()
    assert (counts["living"], counts["released"], counts["cleared"], counts["failed"]) == (1, 1, 0, 0)
    assert await by_hand.rig.texts("scratch", "key") == [WORDS]
    assert await by_hand.bindings(dead.id) == ()


# Memories that cannot be settled


async def bound_to_all(by_hand: Sweeper, owner: Owner) -> list[MemoryId]:
    """Memories of every declared end, and one that nobody declares, all of the same owner."""
    declared = [by_hand.rig.memory(*place) for place in (("scratch", "one"), ("scratch", "two"), ("flushed", "key"))]
    for memory in declared:
        await memory.append(WORDS)
    memories = [*(memory.id for memory in declared), MemoryId(by_hand.client.project, "undeclared", "key")]
    for memory_id in memories:
        await by_hand.index.register(memory_id, owner)
    return memories


@pytest.mark.parametrize("resource", ["scratch", "undeclared"])
async def test_a_damaged_memory_keeps_no_other_of_its_workflow_from_being_settled(
    by_hand: Sweeper, redis_url: str, resource: str
) -> None:
    owner = Owner(by_hand.rig.client.namespace, unique("forgotten"), "a-run")
    memories = await bound_to_all(by_hand, owner)
    damaged = next(memory for memory in memories if memory.resource == resource)
    await damage(redis_url, damaged)
    by_hand.runs.retention = 0
    await asyncio.sleep(0.01)
    others = Counts(memory.resource for memory in memories if memory != damaged)
    # The damaged one fails in both stages of a sweep: as an owned memory, and as one that may be due.
    done = {"flushed": 1, "kept": others["undeclared"], "cleared": others["scratch"], "failed": 2, "released": 0}
    counts = await by_hand.sweep()
    assert {name: counts[name] for name in done} == done
    assert [binding.memory for binding in await by_hand.bindings(owner.workflow_id)] == [damaged]
    await by_hand.client.memory("scratch", "two").append("of somebody else")
    assert (await by_hand.sweep())["cleared"] == 0
    assert "of somebody else" in await by_hand.rig.texts("scratch", "two")


async def test_a_cleanup_settles_all_others_before_it_says_which_memory_is_damaged(
    by_hand: Sweeper, redis_url: str
) -> None:
    handle = await by_hand.rig.start(End.run, "scratch", "own", "wait")
    await appended(by_hand.rig, "scratch", "own")
    run = str(handle.first_execution_run_id)
    memories = await bound_to_all(by_hand, Owner(by_hand.rig.client.namespace, handle.id, run))
    await damage(redis_url, memories[0])
    with pytest.raises(WorkflowFailureError) as failed:
        await by_hand.rig.run(CallByName.run, wire.CLEANUP, {"workflow_id": handle.id, "run_id": run})
    assert isinstance(failed.value.cause, ActivityError)
    assert isinstance(failed.value.cause.cause, ApplicationError)
    assert failed.value.cause.cause.type == "MemoryDamaged"
    assert [binding.memory for binding in await by_hand.bindings(handle.id)] == [memories[0]]
    assert await by_hand.rig.texts("scratch", "two") == await by_hand.rig.texts("scratch", "own") == []


async def test_where_no_flusher_can_be_told_what_is_cleared_is_released_and_the_rest_is_tried_again(
    by_hand: Sweeper,
) -> None:
    owner = Owner(by_hand.rig.client.namespace, unique("forgotten"), "a-run")
    memories = await bound_to_all(by_hand, owner)
    by_hand.runs.retention = 0
    await asyncio.sleep(0.01)

    class Unreachable:
        async def wake(self, memory: MemoryId, *, force: bool = False) -> None:
            raise MemoryUnavailable(f"{memory.resource}: a signal (force: {force}) was not taken (UNAVAILABLE)")

    client = by_hand.client
    alone = MemoryClient(REGISTRY, client.parts.backends, project=client.project, waker=Unreachable())
    counts = await by_hand.sweep(client=alone)
    assert (counts["cleared"], counts["kept"], counts["flushed"], counts["failed"]) == (2, 1, 0, 1)
    assert [binding.memory for binding in await by_hand.bindings(owner.workflow_id)] == [memories[2]]
    assert (await by_hand.sweep())["flushed"] == 1
    assert await by_hand.bindings(owner.workflow_id) == ()


async def test_a_memory_that_is_out_of_reach_for_long_holds_up_no_other_of_its_workflow_for_ever(
    by_hand: Sweeper,
) -> None:
    owner = Owner(by_hand.rig.client.namespace, unique("forgotten"), "a-run")
    memories = [by_hand.rig.memory("scratch", str(number)).id for number in range(8)]
    for memory in memories:
        await by_hand.client.at(memory).append(WORDS)
        await by_hand.index.register(memory, owner)
    by_hand.runs.retention = 0
    await asyncio.sleep(0.01)
    store = by_hand.client.parts.backends["redis"].store

    async def stats(memory: MemoryId, limits: Limits) -> MemoryStats:
        if memory == memories[3]:
            raise MemoryUnavailable("the cluster is down for the slot of this memory")
        return await store.stats(memory, limits)

    client = by_hand.with_ports(lambda backend: replace(backend, store=wrapped(store, {"stats": stats})))

    async def only_one_is_left() -> bool:
        await by_hand.sweep(client=client)
        return [binding.memory for binding in await by_hand.bindings(owner.workflow_id)] == [memories[3]]

    await eventually(only_one_is_left)
    assert [await by_hand.rig.texts("scratch", memory.key) for memory in memories] == [[]] * 3 + [[WORDS]] + [[]] * 4
