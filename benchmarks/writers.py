"""Rows about many writers: on one memory and on many, and beside the Redis session of OpenAI's Agents SDK."""

from __future__ import annotations

import importlib
import secrets
from collections.abc import AsyncIterator, Sequence
from typing import Any

from measure import Work, compare_throughput
from redis.asyncio import Redis
from subjects import TEXT, open_memories
from table import Row

from durable_memory import Memory

WRITERS = (1, 16, 64)
BARS = {1: 3.0, 16: None, 64: 50.0}
NAME = "append against RedisSession"


async def rows(redis_url: str) -> AsyncIterator[Row]:
    """Measures row by row."""
    client, [together, *others] = await open_memories(redis_url, 1 + WRITERS[-1])
    ratio, mine, theirs = await compare_throughput(
        [_appends(together)] * WRITERS[-1], [_appends(memory) for memory in others]
    )
    detail = f"{mine:,.0f} appends/s on one memory, {theirs:,.0f} on {WRITERS[-1]}"
    yield Row(f"{WRITERS[-1]} writers on one memory", ratio, 0.7, detail, at_least=True)

    session = _session_class()
    if session is None:
        yield Row(NAME, None, None, "not measured: the SDK is not installed (pip install --group bench)")
    else:
        async for row in _beside_sessions(redis_url, session, others):
            yield row
    await client.close()


async def _beside_sessions(redis_url: str, session: Any, memories: Sequence[Memory]) -> AsyncIterator[Row]:
    """Compares on a memory each: a fast machine could bring one to its limit of remembered operations."""
    redis = Redis.from_url(redis_url)
    for number, memory in zip(WRITERS, memories, strict=False):
        name = secrets.token_hex(8)  # each writer has a session object of its own, as each process has; both expire
        theirs = [_adds(session(name, redis_client=redis, ttl=86_400)) for _ in range(number)]
        ratio, mine, other = await compare_throughput([_appends(memory)] * number, theirs, rounds=3)
        detail = f"{mine:,.0f} appends/s against {other:,.0f}"
        writers = "1 writer" if number == 1 else f"{number} writers"
        yield Row(f"{NAME}, {writers}", ratio, BARS[number], detail, at_least=True)
    await redis.aclose()


def _session_class() -> Any:
    """Returns RedisSession; None where it is not installed."""
    try:
        module = importlib.import_module("agents.extensions.memory.redis_session")
    except ImportError:
        return None
    return module.RedisSession


def _appends(memory: Memory) -> Work:
    return lambda number: memory.append(f"{number} {TEXT}")


def _adds(session: Any) -> Work:
    return lambda number: session.add_items([{"role": "user", "content": f"{number} {TEXT}"}])
