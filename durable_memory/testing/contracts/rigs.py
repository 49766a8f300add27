"""A store together with the power over its time: what tests of expiry, lost leases and lost data need."""

from __future__ import annotations

import copy
import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from durable_memory.memory.clock import Clock, ManualClock, SystemClock
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.in_memory.store import open_in_memory
from durable_memory.testing.contracts.driven import Driven, fresh_memory

OUTLIVES_THE_MEMORY: Final = (":ops", ":opx")
"""Keys that end with the deadlines in them, not with the memory."""


class StoreRig(Protocol):
    """A backend whose time the test holds."""

    @property
    def backend(self) -> Backend:
        """The store and its index."""
        ...

    @property
    def clock(self) -> Clock:
        """The time of the store."""
        ...

    async def expire(self, driven: Driven) -> None:
        """Ends the lifetime of a memory."""
        ...

    async def expire_lease(self, driven: Driven) -> None:
        """Ends the lease of the flush in progress."""
        ...

    async def persist(self, driven: Driven) -> object:
        """Returns all that the store holds of a memory now."""
        ...

    async def lose(self, driven: Driven, persisted: object) -> Driven:
        """Loses what was written to a memory since then, as a failover does; returns it as it stands afterwards."""
        ...


def drive(rig: StoreRig, limits: Limits, memory: MemoryId | None = None) -> Driven:
    """Returns a memory of this rig."""
    return Driven(rig.backend.store, limits, memory or fresh_memory(), rig.clock)


class InMemoryRig:
    """The in-memory store on a clock that is moved by hand."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.backend = open_in_memory(self.clock)

    async def expire(self, driven: Driven) -> None:
        """See StoreRig; the memory needs a ttl."""
        assert driven.limits.ttl_ms is not None
        self.clock.advance(ms=driven.limits.ttl_ms + 1)

    async def expire_lease(self, driven: Driven) -> None:
        """See StoreRig."""
        self.clock.advance(ms=driven.limits.lease_ms + 1)

    async def persist(self, driven: Driven) -> object:
        """See StoreRig."""
        return copy.deepcopy(driven.store, {id(self.clock): self.clock})

    async def lose(self, driven: Driven, persisted: object) -> Driven:
        """See StoreRig."""
        survivor: Any = persisted
        return replace(driven, store=survivor)


@dataclass(frozen=True, slots=True)
class RedisRig:
    """The Redis store, whose keys are removed instead of waiting for their end."""

    backend: Backend
    raw: Any
    clock: Clock

    async def expire(self, driven: Driven) -> None:
        """See StoreRig: what outlives the memory stays."""
        await self._remove(
            key
            for key in await self._keys(driven)
            if not (key.decode().endswith(OUTLIVES_THE_MEMORY) or b"}:backup:" in key)
        )

    async def expire_lease(self, driven: Driven) -> None:
        """See StoreRig."""
        await self._remove(key for key in await self._keys(driven) if key.endswith(b":lease"))

    async def persist(self, driven: Driven) -> object:
        """See StoreRig."""
        return [(key, await self.raw.pttl(key), await self.raw.dump(key)) for key in await self._keys(driven)]

    async def lose(self, driven: Driven, persisted: object) -> Driven:
        """See StoreRig."""
        await self._remove(await self._keys(driven))
        dumped: Any = persisted
        for key, ttl_ms, value in dumped:
            await self.raw.restore(key, max(ttl_ms, 0), value)
        return driven

    async def _remove(self, keys: Iterable[bytes]) -> None:
        for key in keys:
            await self.raw.delete(key)

    async def _keys(self, driven: Driven) -> list[bytes]:
        # The random part of a key of `fresh_memory` stands in the names of all its keys, and of no other.
        unique = driven.memory.key.rpartition(":")[2]
        return [key async for key in self.raw.scan_iter(match=f"*{unique}*", count=1000)]


@asynccontextmanager
async def open_redis_rig(url: str) -> AsyncIterator[RedisRig]:
    """Connects to a server that may be shared: all keys have a prefix of their own."""
    from redis.asyncio import Redis  # noqa: PLC0415 - a driver is imported by who needs it

    from durable_memory.memory.stores.redis.connection import connect_redis  # noqa: PLC0415 - the same

    backend = await connect_redis(url, prefix=f"rig-{uuid.uuid4().hex[:8]}:")
    raw = Redis.from_url(url)
    try:
        yield RedisRig(backend, raw, SystemClock())
    finally:
        await raw.aclose()
        await backend.store.close()
