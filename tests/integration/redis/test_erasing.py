"""An erase leaves nothing of what was said in Redis, whatever a memory held and whatever was kept of it."""

from __future__ import annotations

import asyncio

from redis.asyncio import Redis

from durable_memory.memory.stores.backend import Backend
from durable_memory.testing.contracts.builders import call, divided, result, summarising, system, user
from durable_memory.testing.contracts.driven import Driven
from tests.integration.redis.filled import name_of

MARKER = "zebra-of-ward-7"


async def holding(raw: Redis, place: bytes) -> dict[bytes, str]:
    """Every key of a memory with all that it holds."""
    found: dict[bytes, str] = {}
    async for key in raw.scan_iter(match=place + b"*", count=1000):
        match await raw.type(key):
            case b"string":
                held: object = await raw.get(key)
            case b"hash":
                held = await raw.hgetall(key)
            case _:
                held = await raw.zrange(key, 0, -1)
        found[key] = repr(held)
    return found


def place_of(prefix: str, driven: Driven) -> bytes:
    return name_of(prefix, driven, "meta").removesuffix(b"meta")


async def with_all_kinds(backend: Backend) -> Driven:
    """A memory with the marker in each place that holds content: live, waiting, summary, draft, and two backups."""
    driven = Driven(backend.store, summarising())
    for round_ in range(2):
        await driven.append(*(user(f"{MARKER} {number}") for number in range(8)))
        await driven.flush(f"flusher/{round_}")
        await driven.append(system(MARKER, 5), call(MARKER, "c1"), result(MARKER, "c1"))
        await driven.append(*(user(f"{MARKER} {number}") for number in range(8)))
        await driven.clear(backup=True)
    await driven.append(*(user(f"{MARKER} {number}") for number in range(12)))
    await driven.summarise(await driven.batch("flusher/2"))
    return driven


async def test_a_scan_finds_nothing_of_an_erased_memory(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = await with_all_kinds(backend)
    place = place_of(prefix, driven)
    before = await holding(raw, place)
    spoken = {key.removeprefix(place) for key, held in before.items() if MARKER in held}
    assert {b"msg", b"batch"} <= spoken
    assert sum(key.startswith(b"backup:") for key in spoken) == 2
    await driven.erase()
    after = await holding(raw, place)
    assert {key.removeprefix(place) for key in after} == {b"ops", b"opx"}
    assert MARKER not in repr(after)
    assert all([0 < await raw.pttl(key) <= driven.patience_ms + 66_000 for key in after])


async def test_sections_that_only_a_backup_knows_are_erased_with_it(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = Driven(backend.store, divided())
    await driven.append(user("talk"), user(MARKER, section="bookings"))
    await driven.clear(backup=True)
    place = place_of(prefix, driven)
    assert [key for key in await holding(raw, place) if key.endswith(b":order:bookings")]
    # Another driver has seen none of this memory's sections.
    assert (await driven.erase()).backups == 1
    assert {key.removeprefix(place) for key in await holding(raw, place)} == {b"ops", b"opx"}


async def test_a_backup_that_is_made_meanwhile_is_erased_as_well(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = Driven(backend.store, summarising())
    place = place_of(prefix, driven)

    async def keep(number: int) -> None:
        await driven.append(user(f"{MARKER} {number}"))
        await driven.clear(backup=True)

    for number in range(3):
        await keep(number)
    await asyncio.gather(driven.erase(), *(keep(number) for number in range(20)))
    await driven.erase()
    assert MARKER not in repr(await holding(raw, place))


async def test_a_damaged_memory_is_erased_with_its_backups(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = await with_all_kinds(backend)
    place = place_of(prefix, driven)
    await raw.delete(place + b"meta", place + b"groups")
    await raw.set(place + b"groups", "foreign")
    await raw.hset(place + b"meta", "schema", "1")
    assert (await driven.erase()).backups == 2
    assert MARKER not in repr(await holding(raw, place))
    assert (await driven.append(user("new"))).created is True


async def test_a_list_of_backups_that_something_else_has_put_there_is_removed(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    driven = Driven(backend.store, summarising())
    await driven.append(user("a"))
    place = place_of(prefix, driven)
    await raw.set(place + b"backup:list", "foreign")
    assert (await driven.erase()).messages == 1
    assert await raw.exists(place + b"backup:list") == 0
