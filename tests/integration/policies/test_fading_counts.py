"""Under lfu what was read often long ago leaves in the end, in either store."""

from __future__ import annotations

from durable_memory.memory.eviction.policies import HALF_LIFE_MS, STEP, STEPS
from durable_memory.testing.contracts.builders import dropping, user
from durable_memory.testing.contracts.driven import Driven
from durable_memory.testing.contracts.policies import said
from durable_memory.testing.contracts.rigs import InMemoryRig, RedisRig, StoreRig, drive
from tests.stores_in_time import in_memory_rig, redis_rig, rig

__all__ = ["in_memory_rig", "redis_rig", "rig"]


async def _days_pass(rig: StoreRig, memory: Driven, days: int) -> None:
    match rig:
        case InMemoryRig():
            rig.clock.advance(ms=days * HALF_LIFE_MS)
        case RedisRig():
            # Nobody moves the clock of a server, so all that was accessed moves back instead.
            unique = memory.memory.key.rpartition(":")[2]
            [key] = [key async for key in rig.raw.scan_iter(match=f"*{unique}*:evict:short_term", count=1000)]
            for group, _ in await rig.raw.zrange(key, 0, -1, withscores=True):
                await rig.raw.zincrby(key, -days * STEPS * STEP, group)
        case _:
            raise AssertionError(rig)


async def _memory_with_a_favourite(rig: StoreRig) -> tuple[Driven, str]:
    """Returns a full memory, the first of whose ten messages was read eight times, and the id of that."""
    memory = drive(rig, dropping(policy="lfu"))
    ids = (await memory.append(*said(*(f"n{number}" for number in range(10))))).ids
    for _ in range(8):
        await memory.touch(ids[0])
    return memory, ids[0]


async def test_a_favourite_outlives_what_nobody_reads(rig: StoreRig) -> None:
    memory, _ = await _memory_with_a_favourite(rig)
    await _days_pass(rig, memory, 2)
    await memory.append(*said(*"abcdefghi"))
    assert await memory.texts() == ["n0", *"abcdefghi"]
    await memory.append(user("j"))
    assert await memory.texts() == ["n0", *"bcdefghij"]


async def test_a_favourite_of_long_ago_leaves_before_what_is_new(rig: StoreRig) -> None:
    memory, _ = await _memory_with_a_favourite(rig)
    await _days_pass(rig, memory, 10)
    await memory.append(*said(*"abcdefghi"))
    assert await memory.texts() == ["n0", *"abcdefghi"]
    await memory.append(user("j"))
    assert await memory.texts() == [*"abcdefghij"]


async def test_a_favourite_of_long_ago_that_is_read_again_stands_as_what_is_new(rig: StoreRig) -> None:
    memory, favourite = await _memory_with_a_favourite(rig)
    await _days_pass(rig, memory, 10)
    appended = await memory.append(*said(*"abcdefghi"))
    await memory.touch(favourite, appended.ids[0])
    await memory.append(*said(*"jkl"))
    assert await memory.texts() == ["a", *"defghi", *"jkl"]
