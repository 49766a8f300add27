"""What a Redis is warned of when it is opened."""

from __future__ import annotations

from durable_memory.memory.stores.redis.connection import connect_redis


async def warnings_of(url: str) -> tuple[str, ...]:
    """Returns the warnings, and closes what was opened."""
    backend = await connect_redis(url)
    await backend.store.close()
    return backend.warnings
