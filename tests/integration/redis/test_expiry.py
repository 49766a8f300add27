"""The lifetime of a memory: all of its keys have it, from the same moment to the same moment."""

from __future__ import annotations

import asyncio
from typing import get_args

import pytest
from redis.asyncio import Redis

from durable_memory.memory.limits import PolicyName
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis.keys import MEMORY_KEYS
from durable_memory.memory.stores.values import Batch
from durable_memory.testing.contracts.builders import call, divided, dropping, result, summarising, system, user
from durable_memory.testing.contracts.driven import Driven
from tests.integration.redis.expiries import OUTLIVE, expiries

HOUR_MS = 3_600_000


async def check_one_end(raw: Redis, prefix: str, driven: Driven) -> set[str]:
    """Checks that every key ends, those of the memory all at the same time; returns the names of its keys."""
    ends = await expiries(raw, prefix, driven)
    assert all(end > 0 for end in ends.values()), ends
    assert len({end for short, end in ends.items() if short not in OUTLIVE}) <= 1, ends
    return set(ends)


@pytest.mark.parametrize("policy", get_args(PolicyName))
async def test_every_key_has_the_memorys_end_after_every_operation(
    backend: Backend, raw: Redis, prefix: str, policy: str
) -> None:
    driven = Driven(backend.store, summarising(ttl_ms=HOUR_MS, policy=policy))
    seen: set[str] = set()

    async def check() -> None:
        seen.update(await check_one_end(raw, prefix, driven))

    first = await driven.append(user("first"))
    await check()
    await driven.append(system("rule", 5), call("call", "a", "b"), result("answer", "a"), user("pin", 5, pinned=True))
    await check()
    for number in range(8):
        await driven.append(user(f"m{number}"))
        await check()
    waiting = await driven.append(call("waits", "c", tokens=1))
    await driven.delete(waiting.ids[0])
    await check()
    await driven.append(result("late", "c"), result("joins", "b", 1))
    await check()
    await driven.touch(first.ids[0])
    await driven.read(ids=(first.ids[0],))
    await check()
    batch = await driven.batch()
    await check()
    await driven.summarise(batch)
    await check()
    await driven.store.renew(driven.memory, batch, driven.limits)
    await driven.commit(batch)
    await check()
    given_up = await driven.batch("flusher/2", force=True)
    await driven.store.fail(driven.memory, given_up, "Boom", 10)
    await check()
    written = await driven.write(call("again", "c"), user("more"), *(user(f"w{number}") for number in range(8)))
    await check()
    await driven.delete(written.ids[-1])
    await check()
    changed = "lfu" if policy != "lfu" else "priority"
    await driven.under(summarising(ttl_ms=HOUR_MS, policy=changed)).append(user("under another policy"))
    await check()
    await driven.under(dropping(ttl_ms=HOUR_MS, policy=policy)).drop(force=True)
    await check()
    await driven.clear()
    await check()
    assert seen == set(MEMORY_KEYS), "this test must have seen every key"


async def test_a_key_that_emptied_and_came_again_still_ends_with_the_memory(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    driven = Driven(backend.store, summarising(ttl_ms=HOUR_MS, keep_last=0))
    for number in range(10):
        await driven.append(user(f"m{number}"))
    await driven.flush(force=True)
    await check_one_end(raw, prefix, driven)
    for number in range(10):
        await driven.append(user(f"n{number}"))
    await check_one_end(raw, prefix, driven)


async def test_the_first_message_that_can_go_brings_a_key_that_ends_with_the_memory(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    driven = Driven(backend.store, summarising(ttl_ms=HOUR_MS, policy="lru"))
    await driven.append(user("stays", pinned=True))
    await driven.append(user("stays too", pinned=True))
    await driven.append(user("can go"))
    assert "evict:short_term" in await check_one_end(raw, prefix, driven)


async def test_a_read_prolongs_every_key_of_the_memory_together(backend: Backend, raw: Redis, prefix: str) -> None:
    limits = summarising(ttl_ms=10_000, policy="lru", keep_last=1, refresh_on_read=True)
    driven = Driven(backend.store, limits)
    first = await driven.append(
        system("rule", 5), call("call", "a", "b"), result("answer", "a"), user("pin", pinned=True)
    )
    await driven.append(*(user(f"m{number}", 9) for number in range(8)))
    await driven.batch(force=True)
    for ids in (None, first.ids[:1]):
        before = await expiries(raw, prefix, driven)
        await asyncio.sleep(0.6)
        await driven.read(ids=ids)
        await check_one_end(raw, prefix, driven)
        after = await expiries(raw, prefix, driven)
        assert after.keys() == before.keys()
        assert after["meta"] - before["meta"] > 100
        assert {short: after[short] for short in OUTLIVE & after.keys()} == {
            short: before[short] for short in OUTLIVE & before.keys()
        }


async def test_a_flush_does_not_keep_a_memory_alive(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = Driven(backend.store, summarising(ttl_ms=10_000))
    for number in range(8):
        await driven.append(user(f"m{number}"))
    before = await expiries(raw, prefix, driven)
    await asyncio.sleep(0.1)
    await driven.flush()
    after = await expiries(raw, prefix, driven)
    assert after["meta"] == before["meta"]
    assert after["order:long_term"] == before["meta"]


async def test_a_memory_ends_at_once_and_whole(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = Driven(backend.store, summarising(ttl_ms=2_000, policy="lru"))
    await driven.append(system("s"), call("c", "x"), user("a"), user("b"))
    batch = await driven.batch(force=True)
    await driven.summarise(batch)
    end = (await expiries(raw, prefix, driven))["meta"]
    seconds, micros = await raw.time()
    await asyncio.sleep((end - seconds * 1000 - micros / 1000) / 1000 + 0.01)
    assert not (await driven.stats()).exists
    left = set(await expiries(raw, prefix, driven))
    assert left <= {"ops", "opx"}
    view = await driven.read()
    assert (view.version, view.entries) == ("absent", ())


async def test_a_write_prolongs_the_life_and_a_read_does_not(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = Driven(backend.store, summarising(ttl_ms=10_000))
    await driven.append(user("a"))
    born = (await expiries(raw, prefix, driven))["meta"]
    await asyncio.sleep(0.6)
    await driven.read()
    assert (await expiries(raw, prefix, driven))["meta"] == born
    await driven.append(user("b"))
    ends = await expiries(raw, prefix, driven)
    assert ends["meta"] >= born + 100
    assert {ends[short] for short in set(ends) - OUTLIVE} == {ends["meta"]}


async def test_a_memory_whose_declared_life_changes_follows_it(backend: Backend, raw: Redis, prefix: str) -> None:
    endless = Driven(backend.store, summarising(ttl_ms=None))
    await endless.append(system("s"), user("a"))
    ends = await expiries(raw, prefix, endless)
    assert {end for short, end in ends.items() if short not in OUTLIVE} == {-1}
    mortal = endless.under(summarising(ttl_ms=HOUR_MS))
    await mortal.append(user("b"))
    await check_one_end(raw, prefix, mortal)
    await endless.append(user("c"))
    ends = await expiries(raw, prefix, endless)
    assert {end for short, end in ends.items() if short not in OUTLIVE} == {-1}


async def test_the_record_of_operations_ends_by_its_deadlines(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = Driven(backend.store, summarising(ttl_ms=None), patience_ms=5_000)
    for number in range(3):
        await driven.append(user(f"m{number}"))
    now = (await raw.time())[0] * 1000
    ends = await expiries(raw, prefix, driven)
    assert now + 60_000 <= ends["ops"] <= now + 80_000
    assert ends["opx"] == ends["ops"]


async def test_a_flush_that_begins_at_the_very_end_finds_the_memory_gone_and_not_damaged(backend: Backend) -> None:
    for _ in range(8):
        driven = Driven(backend.store, summarising(ttl_ms=40))
        await driven.append(*(user(f"m{number}") for number in range(8)))
        outcomes = set()
        while "gone" not in outcomes:
            begun = await driven.begin(force=True)
            outcomes.add("batch" if isinstance(begun, Batch) else begun.outcome)
            if isinstance(begun, Batch):
                await driven.store.fail(driven.memory, begun, "tried again", 0)
        assert outcomes <= {"batch", "gone"}
        assert (await driven.append(user("again"))).created


async def test_the_keys_of_sections_end_with_the_memory(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = Driven(backend.store, divided(ttl_ms=HOUR_MS, policy="lru"))
    seen: set[str] = set()
    ids = await driven.append_each(*(user(f"b{number}", section="bookings") for number in range(6)))
    seen |= await check_one_end(raw, prefix, driven)
    await driven.append(call("C", "1", section="notes"), result("r", "1", 5))
    await driven.pin(ids[-1])
    seen |= await check_one_end(raw, prefix, driven)
    await driven.unpin(ids[-1])
    await driven.flush(force=True)
    await driven.append(user("n", section="notes"), user("b", section="bookings"))
    seen |= await check_one_end(raw, prefix, driven)
    assert {"order:bookings", "evict:bookings", "order:notes", "evict:notes"} <= seen
    # A process whose declaration does not name them prolongs and clears them too.
    stranger = driven.under(summarising(ttl_ms=2 * HOUR_MS, policy="lru"))
    await stranger.append(user("c"))
    assert "order:bookings" in await check_one_end(raw, prefix, driven)
    await stranger.clear()
    assert await check_one_end(raw, prefix, driven) <= OUTLIVE
