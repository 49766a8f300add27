"""Makes a stored memory one that a newer version of the product wrote."""

from __future__ import annotations

from redis.asyncio import Redis

from durable_memory.memory.identity import MemoryId
from durable_memory.memory.stores.redis.keys import MEMORY_KEYS, RedisKeys


async def become_newer(redis_url: str, memory: MemoryId) -> None:
    """Writes a schema into the memory that no version of today knows."""
    async with Redis.from_url(redis_url) as raw:
        meta = RedisKeys("dm:").memory(memory).names[MEMORY_KEYS.index("meta")]
        assert await raw.hdel(meta, "life")
        await raw.hset(meta, "schema", 2)
