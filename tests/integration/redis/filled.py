"""A memory that has something in each of its keys, and the names of these, for tests that damage them."""

from __future__ import annotations

from typing import Final

from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis.keys import MEMORY_KEYS, RedisKeys
from durable_memory.testing.contracts.builders import call, result, summarising, system, user
from durable_memory.testing.contracts.driven import Driven

IMPOSSIBLE_SECTIONS: Final = [
    b"A x:y 1 1 0 0",
    b"A %b 1 1 0 0" % (b"a" * 65),
    b"A \xff 1 1 0 0",
    b"A X 1 1 0 0 B bookings 1 1 0 0",
]


def name_of(prefix: str, driven: Driven, short: str) -> bytes:
    return RedisKeys(prefix).memory(driven.memory).names[MEMORY_KEYS.index(short)]


async def filled(backend: Backend) -> Driven:
    """A memory with something in each of its keys."""
    driven = Driven(backend.store, summarising(policy="lru"))
    await driven.append(*(user(f"old{number}") for number in range(8)))
    await driven.flush()
    await driven.append(system("rule", 5), user("kept", 5, pinned=True), call("call", "a"), result("answer", "a"))
    await driven.append(*(user(f"m{number}") for number in range(5)))
    return driven
