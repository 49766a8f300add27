"""Fixtures of both stores with the power over their time: import them where they are wanted."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from durable_memory.testing.contracts.rigs import InMemoryRig, RedisRig, StoreRig, open_redis_rig


@pytest.fixture
def in_memory_rig() -> InMemoryRig:
    return InMemoryRig()


@pytest.fixture(scope="session")
async def redis_rig(redis_url: str) -> AsyncIterator[RedisRig]:
    async with open_redis_rig(redis_url) as rig:
        yield rig


@pytest.fixture(params=["in_memory", "redis"])
def rig(request: pytest.FixtureRequest) -> StoreRig:
    """One store after the other."""
    chosen: StoreRig = request.getfixturevalue(f"{request.param}_rig")
    return chosen
