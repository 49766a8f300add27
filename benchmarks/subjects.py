"""What is measured: ready-made calls of the product, and the floors that it is held against."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence

from redis.asyncio import Redis

from durable_memory import Memory, MemoryClient, Registry
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.port import Entry, Operation, ReadQuery, Store

TEXT = ("The parcel A-17 was sent on 3 March and has not arrived; the customer asks for a refund. " * 12)[:1000]
"""One kilobyte of ordinary words."""

_PUSH = """
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('HINCRBY', KEYS[2], 'tokens', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1
"""


def entry(number: int) -> Entry:
    """A counted message of 1 KB."""
    payload = json.dumps({"role": "user", "content": f"{number} {TEXT}"}, separators=(",", ":"))
    return Entry(payload=payload, section="short_term", tokens=220)


def limits(max_messages: int) -> Limits:
    """A memory that drops, so that a full one evicts at every append; nothing is ever due."""
    return Limits(
        max_tokens=None,
        max_messages=max_messages,
        summarize=False,
        summary_tokens=0,
        overflow_tokens=None,
        overflow_messages=None,
        due_tokens=None,
        due_messages=None,
        target_tokens=None,
        target_messages=None,
        keep_first=0,
        keep_last=0,
        policy="fifo",
        open_group_ms=3_600_000,
        ttl_ms=86_400_000,
        lease_ms=30_000,
    )


class StoredMemory:
    """A memory at the store's port, with calls that append one message or read a window."""

    def __init__(self, store: Store, limits_: Limits) -> None:
        self._store = store
        self._limits = limits_
        self.id = MemoryId("bench", "memory", secrets.token_hex(8))

    async def append(self, number: int) -> object:
        """Appends one message."""
        return await self._store.append(self.id, [entry(number)], operation(), self._limits)

    async def fill(self, messages: int) -> None:
        """Appends many, a thousand a call."""
        for start in range(0, messages, 1000):
            batch = [entry(number) for number in range(start, min(start + 1000, messages))]
            await self._store.append(self.id, batch, operation(), self._limits)

    async def read(self, number: int) -> Sequence[object]:  # noqa: ARG002 - the signature of a call
        """Reads the newest 50 messages and decodes them."""
        view = await self._store.read(self.id, ReadQuery(limit=50), self._limits)
        return [json.loads(item.payload) for item in view.entries]


class Floor:
    """The least that any store of messages in Redis has to do: push, count, expire; and a list's last 50."""

    def __init__(self, redis: Redis) -> None:
        self._push = redis.register_script(_PUSH)
        self._redis = redis
        self._name = f"floor:{{{secrets.token_hex(8)}}}"

    async def append(self, number: int) -> object:
        """Pushes one message in a bare Lua script."""
        payload = entry(number).payload
        return await self._push(keys=[f"{self._name}:list", f"{self._name}:meta"], args=[payload, 220, 86_400_000])

    async def read(self, number: int) -> Sequence[object]:  # noqa: ARG002 - the signature of a call
        """Reads the last 50 and decodes them."""
        items = await self._redis.lrange(f"{self._name}:list", -50, -1)
        return [json.loads(item) for item in items]


async def open_memory(redis_url: str) -> tuple[MemoryClient, Memory]:
    """A memory as users have it, large enough that nothing is due while it is measured."""
    declared = {"resource": "memory", "id": "bench", "max_tokens": 100_000_000, "persistence": {"ttl": "1d"}}
    client = await MemoryClient.connect(redis_url, memories=Registry.from_resources([declared]))
    return client, client.memory("bench", secrets.token_hex(8))


def operation() -> Operation:
    """An operation of its own, remembered for ten minutes as an activity's is."""
    return Operation(secrets.token_hex(16), int(time.time() * 1000) + 600_000, secrets.token_hex(16))
