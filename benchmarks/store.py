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
    for row in _rows("append in the store", await compare_all(steady.append, pushes), 1.4, "bare Lua"):
        yield row

    full = StoredMemory(backend.store, limits(200))
    await full.fill(400)
    for row in _rows("append that evicts", await compare_all(full.append, pushes), 1.8, "bare Lua"):
        yield row

    client, [memory] = await open_memories(redis_url, 1)
    complete = await compare_all(lambda number: memory.append(f"{number} {TEXT}"), pushes)
    for row in _rows("append in full", complete, 1.7, "bare Lua"):
        yield row

    small, large = (StoredMemory(backend.store, limits(UNBOUNDED)) for _ in range(2))
    await small.fill(SMALL)
    await large.fill(LARGE)
    read = await compare_all(small.read, [floor.read, floor.read_by_redis_py])
    for row in _rows("read of 50 messages", read, 1.5, "LRANGE + JSON"):
        yield row
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


def _rows(name: str, ratios: list[Ratio], bar: float, floor: str) -> tuple[Row, Row]:
    """The bar is held against the floor through redis-py, as anybody would write it.

    The store's own link is thinner, so the same floor through it is shown as well: what the script alone costs.
    """
    own, redis_py = ratios
    return (
        Row(name, redis_py.ratio, bar, f"{redis_py.subject_us:.0f} µs / {floor} by redis-py {redis_py.floor_us:.0f}"),
        Row("… against the store's own link", own.ratio, None, f"{floor} by the link {own.floor_us:.0f} µs"),
    )


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
