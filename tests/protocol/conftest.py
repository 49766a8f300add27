"""Both stores with the power over their time: what the schedules of the protocol's rules need."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from durable_memory.memory.limits import Limits
from durable_memory.testing.builders import tiny
from durable_memory.testing.driven import Driven
from durable_memory.testing.rigs import InMemoryRig, RedisRig, StoreRig, drive, open_redis_rig


@pytest.fixture
def in_memory_rig() -> InMemoryRig:
    return InMemoryRig()


@pytest.fixture(scope="session")
async def redis_rig(redis_url: str) -> AsyncIterator[RedisRig]:
    async with open_redis_rig(redis_url) as rig:
        yield rig


@pytest.fixture(params=["in_memory", "redis"])
def rig(request: pytest.FixtureRequest) -> StoreRig:
    chosen: StoreRig = request.getfixturevalue(f"{request.param}_rig")
    return chosen


@pytest.fixture
def limits() -> Limits:
    """The budget of the schedules: 4 tokens, one of them for a summary; a flush is due at 3 and leaves 1."""
    return tiny(ttl_ms=60_000)


@pytest.fixture
def memory(rig: StoreRig, limits: Limits) -> Driven:
    return drive(rig, limits)
