"""A memory that something else has changed says so, instead of showing a part of itself as the whole."""

from __future__ import annotations

import asyncio
import math
import struct
from typing import Final

import pytest
from redis.asyncio import Redis

from durable_memory.memory.errors import MemoryContractTooNew, MemoryDamaged
from durable_memory.memory.limits import PolicyName
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis.keys import MEMORY_KEYS
from durable_memory.testing.contracts.builders import call, divided, summarising, user
from durable_memory.testing.contracts.driven import Driven
from tests.integration.redis.filled import IMPOSSIBLE_SECTIONS, filled, name_of


@pytest.mark.parametrize("lost", ["msg", "order:system", "order:long_term", "order:short_term", "pinned", "overflow"])
async def test_a_key_that_maxmemory_took_is_damage_for_readers_and_writers(
    backend: Backend, raw: Redis, prefix: str, lost: str
) -> None:
    driven = await filled(backend)
    assert await raw.delete(name_of(prefix, driven, lost)) == 1
    with pytest.raises(MemoryDamaged, match="maxmemory-policy"):
        await driven.read()
    with pytest.raises(MemoryDamaged):
        await driven.append(user("more"))


@pytest.mark.parametrize("policy", ["lru", "lfu", "priority", "token_aware_lru"])
async def test_lost_scores_are_given_anew_in_the_order_of_the_messages(
    backend: Backend, raw: Redis, prefix: str, policy: PolicyName
) -> None:
    driven = Driven(backend.store, summarising(policy=policy))
    await driven.append(*(user(text) for text in "abcdefgh"))
    for evicted in range(1, 4):
        assert await raw.delete(name_of(prefix, driven, "evict:short_term")) == 1
        assert (await driven.append(user(f"x{evicted}"))).evicted == 1
    assert await driven.texts() == [*"defgh", "x1", "x2", "x3"]
    assert await raw.delete(name_of(prefix, driven, "evict:short_term")) == 1
    plan, batch = await driven.plan(), await driven.batch()
    assert await driven.content_texts(batch) == list("abcdefg")
    assert len(plan.removed_ids) == batch.messages


async def test_lost_scores_of_one_section_are_given_anew(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = Driven(backend.store, divided(policy="lru"))
    await driven.append(*(user(f"b{number}", section="bookings") for number in range(4)), user("talk"))
    place = name_of(prefix, driven, "meta").removesuffix(b"meta")
    assert await raw.delete(place + b"evict:bookings") == 1
    assert (await driven.append(user("b4", section="bookings"))).evicted == 1
    assert await driven.texts() == ["b1", "b2", "b3", "b4", "talk"]


async def test_one_lost_record_is_damage(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = await filled(backend)
    seq = (await driven.read()).entries[-1].id.split("-")[1]
    assert await raw.hdel(name_of(prefix, driven, "msg"), seq) == 1
    with pytest.raises(MemoryDamaged) as refused:
        await driven.read()
    assert driven.memory.key not in refused.value.message
    with pytest.raises(MemoryDamaged):
        await driven.append(user("more"))


@pytest.mark.parametrize(
    "record",
    [b"q-%b10  {}", b'c-%b10  {"role":"user","content":"\xff"}'],
    ids=["section", "bytes"],
)
async def test_a_record_of_another_form_is_damage_wherever_it_is_read(
    backend: Backend, raw: Redis, prefix: str, record: bytes
) -> None:
    driven = await filled(backend)
    message_id = (await driven.read()).entries[-1].id
    _, seq, tag = message_id.split("-")
    await raw.hset(name_of(prefix, driven, "msg"), seq, record % tag.encode())
    store, memory = driven.store, driven.memory
    for reading in (driven.read(), store.find(memory, [message_id]), store.scan(memory, "r:0", 100)):
        with pytest.raises(MemoryDamaged, match="maxmemory-policy"):
            await reading
    await driven.clear()
    await driven.append(user("new"))
    assert await driven.texts() == ["new"]


async def test_a_record_lost_under_a_flush_is_damage_and_commits_nothing(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    driven = Driven(backend.store, summarising())
    appended = await driven.append(*(user(f"m{number}") for number in range(8)))
    batch = await driven.batch()
    await driven.summarise(batch)
    await raw.hdel(name_of(prefix, driven, "msg"), appended.ids[0].split("-")[1])
    before = await raw.dump(name_of(prefix, driven, "meta")), await raw.dump(name_of(prefix, driven, "msg"))
    with pytest.raises(MemoryDamaged):
        await driven.store.content(driven.memory, batch, 0)
    with pytest.raises(MemoryDamaged):
        await driven.commit(batch)
    assert (await raw.dump(name_of(prefix, driven, "meta")), await raw.dump(name_of(prefix, driven, "msg"))) == before


async def test_counters_of_another_form_are_damage(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = await filled(backend)
    await raw.hset(name_of(prefix, driven, "meta"), "due_at", "yesterday")
    with pytest.raises(MemoryDamaged):
        await driven.stats()


async def test_a_key_of_another_type_is_damage(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = await filled(backend)
    name = name_of(prefix, driven, "groups")
    await raw.delete(name)
    await raw.set(name, "foreign")
    with pytest.raises(MemoryDamaged, match="unexpected form"):
        await driven.append(call("again", "b"))


@pytest.mark.parametrize("way", ["write", "clear"])
async def test_a_damaged_memory_can_be_written_anew_or_cleared(
    backend: Backend, raw: Redis, prefix: str, way: str
) -> None:
    driven = await filled(backend)
    await raw.delete(name_of(prefix, driven, "msg"))
    await (driven.write(user("new")) if way == "write" else driven.clear())
    await driven.append(user("after"))
    assert (await driven.texts())[-1] == "after"
    await driven.check_counters()


async def test_a_memory_that_lost_its_counters_is_born_again_without_its_leftovers(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    driven = await filled(backend)
    await raw.delete(name_of(prefix, driven, "meta"))
    assert (await driven.read()).version == "absent"
    born = await driven.append(user("new"))
    assert born.created
    assert await driven.texts() == ["new"]
    await driven.check_counters()


async def test_a_memory_of_a_later_version_is_neither_absent_nor_replaced(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    driven = await filled(backend)
    meta = name_of(prefix, driven, "meta")
    await raw.hdel(meta, "life")
    await raw.hset(meta, mapping={"schema": 2, "head": "of another form"})
    before = [await raw.dump(name_of(prefix, driven, name)) for name in ("meta", "msg")]
    calls = (driven.read(), driven.stats(), driven.append(user("more")), driven.write(user("new")), driven.clear())
    for call_of_an_old_worker in calls:
        with pytest.raises(MemoryContractTooNew, match="newer version"):
            await call_of_an_old_worker
    assert [await raw.dump(name_of(prefix, driven, name)) for name in ("meta", "msg")] == before


async def test_a_memory_without_its_head_is_damage_and_not_absent(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = await filled(backend)
    await raw.hdel(name_of(prefix, driven, "meta"), "life")
    with pytest.raises(MemoryDamaged):
        await driven.read()
    with pytest.raises(MemoryDamaged):
        await driven.append(user("more"))


@pytest.mark.parametrize("damaged", [*MEMORY_KEYS])
async def test_a_clear_mends_a_memory_of_which_any_key_is_foreign(
    backend: Backend, raw: Redis, prefix: str, damaged: str
) -> None:
    driven = await filled(backend)
    name = name_of(prefix, driven, damaged)
    await raw.delete(name)
    await raw.sadd(name, "foreign")
    await driven.clear()
    assert (await driven.append(user("new"))).created
    assert await driven.texts() == ["new"]
    await driven.check_counters()


@pytest.mark.parametrize("way", ["clear", "erase"])
@pytest.mark.parametrize("sections", IMPOSSIBLE_SECTIONS)
async def test_sections_of_impossible_names_are_damage_and_go_with_the_memory(
    backend: Backend, raw: Redis, prefix: str, sections: bytes, way: str
) -> None:
    driven = await filled(backend)
    await raw.hset(name_of(prefix, driven, "meta"), "sections", sections)
    async with asyncio.timeout(30):
        for refused in (driven.read(), driven.append(user("more"))):
            with pytest.raises(MemoryDamaged, match="sections"):
                await refused
        await (driven.clear() if way == "clear" else driven.erase())
    assert (await driven.append(user("new"))).created
    assert await driven.texts() == ["new"]


def counters(**changed: float) -> bytes:
    """The packed counters of a head, all of them 1 but for some."""
    return struct.pack(">21d", *(changed.get(f"c{number}", 1) for number in range(21)))


HEADS: Final[list[dict[str, bytes]]] = [
    {"life": b"x", "counters": b"y"},
    {"other": b"z"},
    {"schema": b"foreign"},
    {"life": b"0" * 20 + b"fifo", "counters": b"y", "schema": b"foreign"},
    *(
        {"life": b"0" * 20 + b"fifo", "counters": counters(c5=0, **{name: value})}
        for name in ("c0", "c7", "c16", "c20")
        for value in (-1, 0.5, math.nan, math.inf, 1e300)
    ),
]


@pytest.mark.parametrize("fields", HEADS)
async def test_a_clear_mends_a_memory_whose_head_says_nothing(
    backend: Backend, raw: Redis, prefix: str, fields: dict[str, bytes]
) -> None:
    driven = await filled(backend)
    name = name_of(prefix, driven, "meta")
    await raw.delete(name)
    for field, value in fields.items():
        await raw.hset(name, field, value)
    with pytest.raises(MemoryDamaged):
        await driven.read()
    await driven.clear()
    assert (await driven.read()).version == "absent"
