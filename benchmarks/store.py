"""Rows about the store: what an append, a read and a byte cost beside the least that Redis has to do."""

from __future__ import annotations

import statistics
from collections.abc import AsyncIterator

from measure import Ratio, compare, compare_all
from redis.asyncio import Redis
from subjects import TEXT, Floor, StoredMemory, entry, limits, open_memories
from table import Row

from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.redis.connection import connect_redis

LARGE, SMALL = 100_000, 100
COUNTED = 1_000
UNBOUNDED = 10_000_000


async def rows(redis_url: str) -> AsyncIterator[Row]:
    """Measures row by row."""
    backend = await connect_redis(redis_url, prefix="bench:")
    redis = Redis.from_url(redis_url)
    floor = Floor(redis_url)
    pushes = [floor.append, floor.append_by_redis_py]

    steady = StoredMemory(backend.store, limits(UNBOUNDED))
    yield _row("append in the store", await compare_all(steady.append, pushes), 1.4, "bare Lua")

    full = StoredMemory(backend.store, limits(200))
    await full.fill(400)
    yield _row("… while every append evicts", await compare_all(full.append, pushes), 1.8, "bare Lua")

    client, [memory] = await open_memories(redis_url, 1)
    complete = await compare_all(lambda number: memory.append(f"{number} {TEXT}"), pushes)
    yield _row("append in full", complete, 1.7, "bare Lua")

    small, large = (StoredMemory(backend.store, limits(UNBOUNDED)) for _ in range(2))
    await small.fill(SMALL)
    await large.fill(LARGE)
    read = await compare_all(small.read, [floor.read, floor.read_by_redis_py])
    yield _row("read of 50 messages", read, 1.5, "LRANGE + JSON")
    grown_read = await compare(large.read, small.read)
    yield Row(f"read of 50 at {LARGE:,} messages", grown_read.ratio, 1.2, f"against the same at {SMALL}")
    # The small one grows while it is measured: to a few thousand, still a fraction of the large one.
    grown = await compare(large.append, small.append)
    yield Row(f"append at {LARGE:,} messages", grown.ratio, 1.2, f"against the same at {SMALL}")

    yield await _bytes_per_message(redis, backend.store)
    yield await _bytes_per_operation(redis, backend.store)
    await client.close()
    await backend.store.close()
    await floor.close()
    await redis.aclose()


def _row(name: str, ratios: list[Ratio], bar: float, floor: str) -> Row:
    """The first ratio is the row's: both sides go through the same link."""
    own, redis_py = ratios
    detail = (
        f"{own.subject_us:.0f} µs / {floor} {own.floor_us:.0f}; "
        f"ratio {redis_py.ratio:.2f} to the same through redis-py, {redis_py.floor_us:.0f}"
    )
    return Row(name, own.ratio, bar, detail)


async def _bytes_per_message(redis: Redis, store: Store) -> Row:
    memory = StoredMemory(store, limits(UNBOUNDED))
    await memory.fill(COUNTED)
    used = await _bytes(redis, memory, operations=False)
    record = statistics.mean(len(entry(number).payload) for number in range(COUNTED))
    detail = f"{used / COUNTED:,.0f} B for a record of {record:,.0f} B"
    return Row("bytes for a message of 1 KB", used / COUNTED / record, 1.5, detail)


async def _bytes_per_operation(redis: Redis, store: Store) -> Row:
    memory = StoredMemory(store, limits(UNBOUNDED))
    for number in range(COUNTED):
        await memory.append(number)
    used = await _bytes(redis, memory, operations=True)
    return Row("bytes for an operation record", used / COUNTED, 260, "gone 60 s after its deadline")


async def _bytes(redis: Redis, memory: StoredMemory, *, operations: bool) -> int:
    """Sums what a memory's keys take: those of its operation records, or all others."""
    used = 0
    async for key in redis.scan_iter(match=f"*{memory.id.key}*", count=1000):
        if key.rsplit(b":", 1)[1].startswith(b"op") == operations:
            used += await redis.memory_usage(key, samples=0) or 0  # None: it expired between the two calls
    return used
