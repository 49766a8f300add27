"""What is measured: ready-made calls of the product, and the floors that it is held against."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import replace

from redis.asyncio import ConnectionPool, Redis

from durable_memory import Memory, MemoryClient, Registry
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.redis.keys import key_set
from durable_memory.memory.stores.redis.link import PooledLink
from durable_memory.memory.stores.redis.scripts import Script
from durable_memory.memory.stores.values import Entry, Operation, ReadQuery

TEXT = ("The parcel A-17 was sent on 3 March and has not arrived; the customer asks for a refund. " * 12)[:1000]
"""One kilobyte of ordinary words."""

_PUSH = """
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('HINCRBY', KEYS[2], 'tokens', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1
"""

_SHA = hashlib.sha1(_PUSH.encode(), usedforsecurity=False).hexdigest().encode()
_PUSH_SCRIPT = Script(_PUSH.encode(), _SHA, b"$7\r\nEVALSHA\r\n$40\r\n" + _SHA + b"\r\n")


def entry(number: int) -> Entry:
    """A counted message of 1 KB."""
    payload = json.dumps({"role": "user", "content": f"{number} {TEXT}"}, separators=(",", ":"))
    return Entry(payload=payload, section="short_term", tokens=220)


def limits(max_messages: int) -> Limits:
    """A memory that drops, so that a full one evicts at every append; nothing is ever due."""
    return replace(Limits.unlimited(), max_messages=max_messages, ttl_ms=86_400_000)


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
    """The least that any store of messages in Redis has to do: push, count, expire; and a list's last 50.

    Once through the link that the product's store uses, and once through redis-py's commands, which cost more.
    """

    def __init__(self, url: str) -> None:
        options = {"protocol": 2, "socket_timeout": None}  # as the store opens its own
        self._link = PooledLink(ConnectionPool.from_url(url, **options), "the floor's Redis")
        self._redis = Redis.from_url(url)
        self._push = self._redis.register_script(_PUSH)
        self._list, self._meta = (f"floor:{{{secrets.token_hex(8)}}}:{name}" for name in ("list", "meta"))
        self._keys = key_set(self._list, self._meta)

    async def append(self, number: int) -> object:
        """Pushes one message in a bare Lua script, through the store's link."""
        payload = entry(number).payload.encode()
        return await self._link.run(_PUSH_SCRIPT, self._keys, [payload, b"220", b"86400000"])

    async def append_by_redis_py(self, number: int) -> object:
        """The same, through redis-py."""
        payload = entry(number).payload
        return await self._push(keys=[self._list, self._meta], args=[payload, 220, 86_400_000])

    async def read(self, number: int) -> Sequence[object]:  # noqa: ARG002 - the signature of a call
        """Reads the last 50 and decodes them, through the store's link."""
        items = await self._link.command("LRANGE", self._list, "-50", "-1")
        return [json.loads(item) for item in items]

    async def read_by_redis_py(self, number: int) -> Sequence[object]:  # noqa: ARG002 - the signature of a call
        """The same, through redis-py."""
        items = await self._redis.lrange(self._list, -50, -1)
        return [json.loads(item) for item in items]

    async def close(self) -> None:
        """Closes both connections."""
        await self._link.close()
        await self._redis.aclose()


async def open_memories(redis_url: str, number: int) -> tuple[MemoryClient, list[Memory]]:
    """Memories as users have them, large enough that nothing is due while they are measured."""
    declared = {"resource": "memory", "id": "bench", "max_tokens": 100_000_000, "persistence": {"ttl": "1d"}}
    client = await MemoryClient.connect(redis_url, memories=Registry.from_resources([declared]))
    return client, [client.memory("bench", secrets.token_hex(8)) for _ in range(number)]


def operation() -> Operation:
    """An operation of its own, remembered for ten minutes as an activity's is."""
    return Operation(secrets.token_hex(16), int(time.time() * 1000) + 600_000, secrets.token_hex(16))
