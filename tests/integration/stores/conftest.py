"""Both stores behind one fixture, on the system's clock."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

import pytest

from durable_memory.memory.clock import SystemClock
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.in_memory.store import open_in_memory


@pytest.fixture(scope="session")
async def in_memory_backend() -> AsyncIterator[Backend]:
    backend = open_in_memory(SystemClock())
    yield backend
    await backend.store.close()


@pytest.fixture(scope="session")
async def redis_backend(redis_url: str) -> AsyncIterator[Backend]:
    from durable_memory.memory.stores.redis.connection import connect_redis  # noqa: PLC0415 - only this store needs it

    backend = await connect_redis(redis_url, prefix=f"stores-{uuid.uuid4().hex[:8]}:")
    yield backend
    await backend.store.close()


@pytest.fixture(params=["in_memory", "redis"])
def backend(request: pytest.FixtureRequest) -> Backend:
    chosen = request.getfixturevalue(f"{request.param}_backend")
    assert isinstance(chosen, Backend)
    return chosen
