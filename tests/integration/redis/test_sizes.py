"""What a memory takes in Redis, and that what was only for a while is gone after it."""

from __future__ import annotations

import asyncio
import json
import uuid

import pytest
from redis.asyncio import Redis

from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis.keys import MEMORY_KEYS, RedisKeys
from durable_memory.memory.stores.values import Entry
from durable_memory.testing.contracts.builders import call, dropping, result, summarising, user
from durable_memory.testing.contracts.driven import Driven

COUNT = 2_000
WIDE = summarising(max_tokens=None, due_tokens=None, target_tokens=None, overflow_tokens=None, ttl_ms=3_600_000)


async def sizes(raw: Redis, prefix: str, driven: Driven) -> dict[str, int]:
    names = RedisKeys(prefix).memory(driven.memory).names
    return {short: await raw.memory_usage(name, samples=0) or 0 for short, name in zip(MEMORY_KEYS, names, strict=True)}


async def test_an_operation_record_takes_at_most_260_bytes_and_a_message_half_more_than_its_record(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    driven = Driven(backend.store, WIDE)
    payload = json.dumps({"role": "user", "content": "x" * 1000, "created_at": "2026-01-01T00:00:00+00:00"})
    for number in range(COUNT):
        op = f"default/{uuid.uuid4()}/{number}"  # as long as those of an activity
        await driven.append(Entry(payload, "short_term", 250), op=op)
    used = await sizes(raw, prefix, driven)
    operations = used.pop("ops") + used.pop("opx")
    assert operations / COUNT <= 260
    assert sum(used.values()) / COUNT <= 1.5 * len(payload)


async def test_an_operation_record_is_gone_after_its_deadline(backend: Backend, raw: Redis, prefix: str) -> None:
    brief = Driven(backend.store, WIDE, patience_ms=5_000)
    for number in range(20):
        await brief.append(user(f"m{number}"))
    names = RedisKeys(prefix).memory(brief.memory).names
    opx = names[MEMORY_KEYS.index("opx")]
    # Its 5 s and the 60 s that clocks may differ by are moved into the past, since nothing here waits that long.
    for member in await raw.zrange(opx, 0, -1):
        assert isinstance(member, bytes)
        await raw.zincrby(opx, -66_000, member)
    patient = Driven(backend.store, WIDE, brief.memory)
    await raw.delete(names[MEMORY_KEYS.index("meta")])
    for number in range(4):
        await patient.append(user(f"n{number}"))
        await asyncio.sleep(0.55)
    assert await raw.zcard(opx) <= 4
    assert await raw.hlen(names[MEMORY_KEYS.index("ops")]) == await raw.zcard(opx)


async def put_summaries_beside(raw: Redis, prefix: str, driven: Driven, seq: str) -> list[str]:
    """Puts 9,000 copies of a summary beside it, more than Lua hands out at once; returns their numbers.

    That many rounds of flushes would take minutes.
    """
    names = RedisKeys(prefix).memory(driven.memory).names
    record = await raw.hget(names[MEMORY_KEYS.index("msg")], seq)
    assert isinstance(record, bytes)
    seqs = [str(number) for number in range(100_000, 109_000)]
    await raw.hset(names[MEMORY_KEYS.index("msg")], mapping=dict.fromkeys(seqs, record))
    await raw.zadd(names[MEMORY_KEYS.index("order:long_term")], {one: int(one) for one in seqs})
    return seqs


async def test_a_batch_with_thousands_of_summaries_is_read(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = Driven(backend.store, summarising())
    await driven.append(*(user("m") for _ in range(8)))
    await driven.flush("flusher/1")
    await driven.append(*(user("m") for _ in range(8)))
    batch = await driven.batch("flusher/2")
    (first, *_), names = await driven.content(batch), RedisKeys(prefix).memory(driven.memory).names
    seqs = await put_summaries_beside(raw, prefix, driven, first.id.split("-")[1])
    await raw.hset(names[MEMORY_KEYS.index("batch")], "summaries", " ".join(seqs))
    summaries = (await driven.content(batch))[: len(seqs)]
    assert [entry.id.split("-")[1] for entry in summaries] == seqs
    assert {entry.payload for entry in summaries} == {first.payload}


async def test_answered_calls_leave_no_trace_once_their_group_is_gone(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    driven = Driven(backend.store, dropping())
    for number in range(30):
        await driven.append(call(f"c{number}", f"id{number}"), result(f"r{number}", f"id{number}"))
    groups = RedisKeys(prefix).memory(driven.memory).names[MEMORY_KEYS.index("groups")]
    live = len((await driven.read()).entries) // 2
    assert await raw.hlen(groups) == 2 * live


@pytest.mark.parametrize("policy", ["fifo", "lru", "token_aware_lru"])
@pytest.mark.parametrize(("some", "a_hundredfold"), [(7, 700), (9, 900)])
async def test_the_counters_of_a_memory_cost_the_same_however_much_a_flush_would_take(
    backend: Backend, raw: Redis, policy: str, some: int, a_hundredfold: int
) -> None:
    async def commands_of_stats(due: Driven, messages: int) -> int:
        for _ in range(messages):
            await due.append(user("m"))
        await due.stats()  # after it Redis knows the script
        await raw.config_resetstat()
        stats = await due.stats()
        assert (stats.flush_due, stats.flush_blocked) == (True, None)
        used = await raw.info("commandstats")
        return sum(
            one["calls"] for name, one in used.items() if name not in {"cmdstat_config|resetstat", "cmdstat_info"}
        )

    few = Driven(backend.store, summarising(policy=policy))
    wide = summarising(policy=policy, max_tokens=8_020, due_tokens=6_400, overflow_tokens=16_040)
    many = Driven(backend.store, wide)
    assert await commands_of_stats(many, a_hundredfold) <= await commands_of_stats(few, some)
