"""A row about many memories: what a process still holds of 10,000 that it has used and let go."""

from __future__ import annotations

import asyncio
import gc
import secrets
from collections.abc import AsyncIterator
from typing import Final

import psutil
from subjects import open_memories
from table import Row

from durable_memory import MemoryClient

_MEMORIES: Final = 10_000
_BEFORE: Final = 5_000
_AT_ONCE: Final = 100


async def rows(redis_url: str) -> AsyncIterator[Row]:
    """Uses others before: they fill the caches, and take from the system what is free again afterwards."""
    client, _ = await open_memories(redis_url, 0)
    await _use(client, _BEFORE)
    before = _resident_bytes()
    await _use(client, _MEMORIES)
    grown = _resident_bytes() - before
    await client.close()
    yield Row(f"MB for {_MEMORIES:,} memories opened", grown / 1e6, 20, f"above {before / 1e6:.0f} MB; used and let go")


async def _use(client: MemoryClient, memories: int) -> None:
    """Appends to so many memories and reads them, each once."""
    for _ in range(0, memories, _AT_ONCE):
        await asyncio.gather(*(_append_and_read(client) for _ in range(_AT_ONCE)))


async def _append_and_read(client: MemoryClient) -> None:
    memory = client.memory("bench", secrets.token_hex(8))
    await memory.append("Where is parcel A-17?")
    await memory.read()


def _resident_bytes() -> int:
    gc.collect()
    return psutil.Process().memory_info().rss
