"""What the product costs, as ratios measured in one run against floors through the same client. `make bench`."""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from measure import compare
from redis.asyncio import Redis
from rich.console import Console
from rich.table import Table
from subjects import TEXT, Floor, StoredMemory, entry, limits, open_memory

from durable_memory.dev import start_valkey
from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.redis.connection import connect_redis

LARGE, SMALL = 100_000, 100
COUNTED = 1_000
UNBOUNDED = 10_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what was measured, its ratio or size, and the bar that it must reach."""

    name: str
    value: float
    bar: float
    detail: str

    @property
    def reached(self) -> bool:
        """Whether the value is within the bar."""
        return self.value <= self.bar


async def rows(redis_url: str) -> AsyncIterator[Row]:
    """Measures row by row."""
    backend = await connect_redis(redis_url, prefix="bench:")
    redis = Redis.from_url(redis_url)
    floor = Floor(redis)

    steady = StoredMemory(backend.store, limits(UNBOUNDED))
    append = await compare(steady.append, floor.append)
    yield Row("append in the store", append.ratio, 1.4, f"{append.subject_us:.0f} µs / bare Lua {append.floor_us:.0f}")

    full = StoredMemory(backend.store, limits(200))
    await full.fill(400)
    evicting = await compare(full.append, floor.append)
    yield Row("… while every append evicts", evicting.ratio, 1.8, f"{evicting.subject_us:.0f} µs")

    client, memory = await open_memory(redis_url)
    complete = await compare(lambda number: memory.append(f"{number} {TEXT}"), floor.append)
    yield Row("append in full", complete.ratio, 1.7, f"{complete.subject_us:.0f} µs / bare Lua {complete.floor_us:.0f}")

    small, large = (StoredMemory(backend.store, limits(UNBOUNDED)) for _ in range(2))
    await small.fill(SMALL)
    await large.fill(LARGE)
    read = await compare(small.read, floor.read)
    yield Row("read of 50 messages", read.ratio, 1.5, f"{read.subject_us:.0f} µs / LRANGE + JSON {read.floor_us:.0f}")
    grown_read = await compare(large.read, small.read)
    yield Row(f"read of 50 at {LARGE:,} messages", grown_read.ratio, 1.2, f"against the same at {SMALL}")
    # The small one grows while it is measured: to a few thousand, still a fraction of the large one.
    grown = await compare(large.append, small.append)
    yield Row(f"append at {LARGE:,} messages", grown.ratio, 1.2, f"against the same at {SMALL}")

    yield await _bytes_per_message(redis, backend.store)
    yield await _bytes_per_operation(redis, backend.store)
    await client.close()
    await backend.store.close()
    await redis.aclose()


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


def show(measured: list[Row], console: Console) -> None:
    """Prints the table."""
    table = Table("what", "value", "bar", "", title="Against floors through the same client, side by side in one run")
    for row in measured:
        verdict = "[green]reached[/]" if row.reached else "[red]missed[/]"
        table.add_row(row.name, f"{row.value:.2f}", f"≤ {row.bar:g}", f"{verdict}  [dim]{row.detail}[/]")
    console.print(table)


async def main() -> int:
    """Starts a Valkey of its own, measures, prints, and returns how many bars were missed."""
    console = Console(width=110 if not sys.stdout.isatty() else None)
    with tempfile.TemporaryDirectory(prefix="durable-memory-bench-") as folder:
        valkey = await start_valkey(Path(folder), fsync="everysec")
        try:
            measured = [row async for row in rows(valkey.url)]
        finally:
            valkey.server.kill()
    show(measured, console)
    return sum(not row.reached for row in measured)


if __name__ == "__main__":
    sys.exit(1 if asyncio.run(main()) else 0)
