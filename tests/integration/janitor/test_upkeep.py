"""What a sweep does for memories that have no ended owner: it wakes flushes, forgets, and keeps alive."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis.asyncio import Redis
from temporalio.client import WorkflowExecutionStatus

from durable_memory import MemoryClient, Message, Registry, ToolCall
from durable_memory.activities.waker import TemporalWaker
from durable_memory.memory.errors import MemoryInvalid, MemoryUnavailable
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.memory import Memory
from durable_memory.memory.stores.in_memory import open_in_memory
from tests.integration.janitor.sweeping import Counts, Sweeper, damage, next_run, sweeper
from tests.integration.temporal.background import flusher_ended, messages_accounted_for, texts
from tests.integration.temporal.flows.calls import AppendMany
from tests.integration.temporal.flows.endings import WORDS, End
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import running, unique
from tests.integration.temporal.summarizers import Gated
from tests.integration.temporal.unseen_ends import has_written


async def lease_is_over(memory: Memory) -> None:
    """Waits until nobody holds the lease of a flush."""

    async def look() -> bool:
        return (await memory.stats()).flushing_owner is None

    await eventually(look)


async def hours_left(memory: Memory) -> int:
    """How long a memory lives, in hours."""
    expires_at = (await memory.stats()).expires_at
    assert expires_at is not None
    return round((expires_at - datetime.now(UTC)) / timedelta(hours=1))


async def names_with(redis_url: str, key: str) -> set[str]:
    """How the names of Redis' keys end that hold this key of a memory."""
    async with Redis.from_url(redis_url) as raw:
        return {name.decode().rpartition(":")[2] async for name in raw.scan_iter(match=f"*{key}*", count=1000)}


async def test_a_due_memory_that_nobody_woke_is_flushed(by_hand: Sweeper) -> None:
    memory = by_hand.rig.memory("small", "key")
    idle = by_hand.rig.memory("small", "idle")
    await memory.append(texts(4))  # by a process without Temporal
    await idle.append(texts(1))
    assert (await memory.stats()).flush_due
    assert +await by_hand.sweep() == Counts({"memories": 2, "woken": 1})
    await flusher_ended(by_hand.rig, memory)
    assert (await memory.stats()).last_flush_outcome == "committed"
    assert await messages_accounted_for(memory) == 4
    assert await by_hand.rig.flusher_status(idle) == "NEVER"
    assert (await by_hand.sweep())["woken"] == 0


async def test_a_due_memory_whose_flusher_was_terminated_is_flushed_once_its_lease_has_ended_by_itself(
    temporal_address: str, redis_url: str
) -> None:
    summarizer = Gated()
    async with (
        running(temporal_address, redis_url, summarizer=summarizer) as rig,
        sweeper(rig, redis_url) as by_hand,
    ):
        memory = rig.memory("small", "key")
        await rig.run(AppendMany.run, "small", ["key"], texts(4))
        await summarizer.asked()
        await rig.flusher(memory).terminate()
        await lease_is_over(memory)
        assert (await memory.stats()).flush_due
        summarizer.gate.set()
        assert (await by_hand.sweep())["woken"] == 1
        await flusher_ended(rig, memory)
        assert (await memory.stats()).last_flush_outcome == "committed"
        assert await messages_accounted_for(memory) == 4


async def test_a_flush_in_progress_is_not_woken(temporal_address: str, redis_url: str) -> None:
    summarizer = Gated()
    async with (
        running(temporal_address, redis_url, summarizer=summarizer) as rig,
        sweeper(rig, redis_url) as by_hand,
    ):
        memory = rig.memory("patient", "key")
        await rig.run(AppendMany.run, "patient", ["key"], texts(4))
        await summarizer.asked()
        assert (await by_hand.sweep())["woken"] == 0
        summarizer.gate.set()
        await flusher_ended(rig, memory)


async def test_a_flusher_that_cannot_be_told_is_told_by_the_next_sweep(by_hand: Sweeper) -> None:
    memory = by_hand.rig.memory("small", "key")
    await memory.append(texts(4))

    async def fails(memory: MemoryId) -> None:
        raise MemoryUnavailable(f"the flusher of a {memory.resource!r} memory could not be told of due work")

    counts = await by_hand.sweep(wake=fails)
    assert (counts["woken"], counts["failed"]) == (0, 1)
    assert (await by_hand.sweep())["woken"] == 1
    await flusher_ended(by_hand.rig, memory)


async def test_a_flusher_that_waits_on_the_queue_of_before_a_rename_is_replaced(by_hand: Sweeper) -> None:
    memory = by_hand.rig.memory("small", "key")
    await memory.append(texts(4))
    await TemporalWaker(by_hand.rig.client, unique("renamed")).tell(memory.id)
    stranded = await by_hand.rig.flusher(memory).describe()
    assert (await by_hand.sweep())["woken"] == 1
    await flusher_ended(by_hand.rig, memory)
    assert (await memory.stats()).last_flush_outcome == "committed"
    before = await by_hand.rig.client.get_workflow_handle(stranded.id, run_id=stranded.run_id).describe()
    assert before.status is WorkflowExecutionStatus.TERMINATED


async def test_an_abandoned_group_is_closed_without_a_step_of_its_own(by_hand: Sweeper) -> None:
    memory = by_hand.rig.memory("calls", "key")
    call = await memory.append(Message.assistant(texts(1)[0], tool_calls=[ToolCall("c1", "track")]))
    await memory.append(texts(3))
    await asyncio.sleep(1.1)  # the resource's open_group_ttl
    assert (await by_hand.sweep())["woken"] == 1
    await flusher_ended(by_hand.rig, memory)
    assert set((await memory.delete(call.ids)).covered) == set(call.ids)


async def test_expired_memories_leave_the_index_and_their_owners_stay_bound_until_they_end(by_hand: Sweeper) -> None:
    owner = await by_hand.rig.start(End.run, "brief", "owned", "wait")
    await eventually(lambda: has_written(owner))
    await by_hand.rig.memory("brief", "ownerless").append(WORDS)
    assert len(await by_hand.listed("brief")) == 2
    await asyncio.sleep(1.1)  # the resource's ttl
    counts = await by_hand.sweep()
    assert (counts["memories"], counts["forgotten"]) == (2, 2)
    assert await by_hand.listed("brief") == []
    assert await by_hand.swept() == []
    assert len(await by_hand.bindings(owner.id)) == 1
    await owner.terminate()
    assert (await by_hand.sweep())["released"] == 1
    assert await by_hand.bindings(owner.id) == ()


@pytest.mark.parametrize(
    ("persistence", "hours"), [({}, 24), ({"ttl": "24h"}, 1), ({"ttl": None}, 1)], ids=["by scope", "declared", "null"]
)
async def test_a_lifetime_by_scope_begins_anew_while_an_owner_goes_on_and_a_declared_one_does_not(
    by_hand: Sweeper, persistence: dict[str, Any], hours: int
) -> None:
    key = unique("key")
    owner = await by_hand.rig.start(End.run, "scratch", key, "wait")
    await eventually(lambda: has_written(owner))
    ownerless = by_hand.rig.memory("scratch", unique("ownerless"))
    await ownerless.append(WORDS)
    await by_hand.sweep(client=by_a_longer_lifetime(by_hand, persistence))
    assert [await hours_left(memory) for memory in (by_hand.rig.memory("scratch", key), ownerless)] == [hours, 1]
    await owner.terminate()


def by_a_longer_lifetime(by_hand: Sweeper, persistence: dict[str, Any]) -> MemoryClient:
    """The same memories as if hours had passed: by the resource as it was when they were written, one hour is left."""
    longer = {"resource": "memory", "id": "scratch", "max_tokens": 4000, "scope": "session", "persistence": persistence}
    registry = Registry.from_resources([longer])
    return MemoryClient(registry, by_hand.client.parts.backends, project=by_hand.client.project)


async def test_no_lifetime_begins_anew_where_it_is_unknown_whether_an_owner_goes_on(by_hand: Sweeper) -> None:
    key = unique("key")
    owner = await by_hand.rig.start(End.run, "scratch", key, "wait")
    await eventually(lambda: has_written(owner))
    by_hand.runs.fails = lambda _: True
    assert (await by_hand.sweep(client=by_a_longer_lifetime(by_hand, {})))["unknown"] == 1
    assert await hours_left(by_hand.rig.memory("scratch", key)) == 1
    await owner.terminate()


async def test_a_damaged_memory_does_not_keep_others_of_its_owner_from_being_kept_alive(
    by_hand: Sweeper, redis_url: str
) -> None:
    owner = Owner(by_hand.rig.client.namespace, unique("run"), "a-run")
    handle = await by_hand.rig.start(End.run, "scratch", unique("own"), "wait", id=owner.workflow_id)
    await eventually(lambda: has_written(handle))
    owner = replace(owner, run_id=str(handle.first_execution_run_id))
    memories = [by_hand.rig.memory("scratch", unique(f"key-{number}")) for number in range(6)]
    for memory in memories:
        await memory.append(WORDS)
        await by_hand.index.register(memory.id, owner)
    await damage(redis_url, memories[0].id)
    swept = await by_hand.sweep(client=by_a_longer_lifetime(by_hand, {}))
    assert swept["failed"] == 2  # once as an owned one, once as a registered one
    assert [await hours_left(memory) for memory in memories[1:]] == [24] * 5
    await handle.terminate()


async def test_a_workflow_that_continues_as_new_is_not_bound_for_ever_to_what_has_expired(by_hand: Sweeper) -> None:
    first = await by_hand.rig.start(End.run, "brief", "key", "continue as new")
    chain = by_hand.rig.client.get_workflow_handle(first.id)
    await next_run(chain, str(first.first_execution_run_id))
    assert len(await by_hand.bindings(chain.id)) == 1
    await asyncio.sleep(1.1)  # the resource's ttl
    assert (await by_hand.sweep())["forgotten"] == 1
    assert (await by_hand.sweep())["living"] == 1
    assert await by_hand.bindings(chain.id) == ()
    await chain.terminate()


async def test_a_memory_stays_in_the_index_while_it_has_backups_so_that_a_purge_finds_them(by_hand: Sweeper) -> None:
    memory = by_hand.rig.memory("scratch", "kept")
    await memory.append(WORDS)
    await memory.clear(confirm=True, backup=True)
    await asyncio.sleep(0.01)
    assert (await by_hand.sweep())["forgotten"] == 0
    assert (await by_hand.client.purge("scratch", dry_run=False, confirm=True)).backups == 1
    assert await by_hand.listed("scratch") == []


async def test_a_purge_leaves_the_record_of_operations_and_the_bindings_of_workflows_until_they_end(
    by_hand: Sweeper, redis_url: str
) -> None:
    key = unique("person")
    owner = await by_hand.rig.start(End.run, "kept", key, "wait")
    await eventually(lambda: has_written(owner))
    await asyncio.sleep(0.01)
    assert (await by_hand.client.purge("kept", prefix=key, dry_run=False, confirm=True)).memories == 1
    assert await names_with(redis_url, key) == {"opx", "ops"}
    assert len(await by_hand.bindings(owner.id)) == 1
    await owner.terminate()
    await by_hand.sweep()
    assert await by_hand.bindings(owner.id) == ()
    assert await by_hand.listed("kept") == []


@pytest.mark.parametrize("place", ["", "redis/owners/", "redis/elsewhere/x", "redis/owners/x", "redis/memories/x"])
async def test_a_position_that_no_sweep_gave_is_refused(by_hand: Sweeper, place: str) -> None:
    for client in (by_hand.client, by_hand.with_ports(lambda _: open_in_memory())):
        with pytest.raises(MemoryInvalid, match="is not one that"):
            await by_hand.janitor(client=client).sweep(place)


async def test_three_hundred_owners_are_swept_in_bounded_calls_that_go_on_where_the_last_one_stopped(
    by_hand: Sweeper,
) -> None:
    namespace = by_hand.rig.client.namespace
    for number in range(300):
        memory = by_hand.rig.memory("scratch", f"key-{number}")
        await memory.append(WORDS)
        await by_hand.index.register(memory.id, Owner(namespace, unique("forgotten"), "a-run"))
    by_hand.runs.retention = 0
    await asyncio.sleep(0.01)
    calls: list[Mapping[str, int]] = []
    position, longest = None, 0.0
    while not calls or position is not None:
        started = time.monotonic()
        # Another janitor each time, as on another worker; without time, each ends with the page that it has begun.
        swept = await by_hand.janitor().sweep(position, seconds=0)
        longest = max(longest, time.monotonic() - started)
        calls.append(swept.counts)
        position = swept.position
    totals = Counter[str]()
    for counts in calls:
        totals.update(counts)
    assert {name: totals[name] for name in ("owners", "released", "cleared", "forgotten", "failed")} == {
        "owners": 300,
        "released": 300,
        "cleared": 300,
        "forgotten": 300,
        "failed": 0,
    }
    assert len(calls) > 5
    assert max(counts["owners"] for counts in calls) < 150
    assert max(counts["memories"] for counts in calls) <= 50
    print(f"{len(calls)} calls, the longest {longest:.2f} s")  # noqa: T201 - seen with -s
