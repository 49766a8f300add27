"""When the keys of a memory end, as Redis says it."""

from __future__ import annotations

from redis.asyncio import Redis

from durable_memory.memory.stores.redis.keys import MEMORY_KEYS, SECTION_KEYS, RedisKeys
from durable_memory.testing.contracts.driven import Driven

OUTLIVE = {"lease", "ops", "opx"}
"""The keys that have ends of their own, which may come after the memory's."""


async def expiries(raw: Redis, prefix: str, driven: Driven) -> dict[str, int]:
    """The absolute end of each key that a memory has, by its name; -1 for none."""
    sections = driven.limits.user_sections
    names = RedisKeys(prefix).memory(driven.memory, *sections).names
    shorts = (*MEMORY_KEYS, *(f"{kind}:{section}" for section in sections for kind in SECTION_KEYS))
    ends = {short: await raw.pexpiretime(name.decode()) for short, name in zip(shorts, names, strict=True)}
    return {short: end for short, end in ends.items() if end != -2}
