"""The Redis driver on the shared server, the raw client beside it, and a proxy that can misbehave between the two."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis

from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis import attempts
from durable_memory.memory.stores.redis.connection import connect_redis
from tests.integration.redis.proxy import Proxy, open_proxy


@pytest.fixture(scope="session")
def prefix() -> str:
    return f"driver-{uuid.uuid4().hex[:8]}:"


@pytest.fixture(scope="session")
async def backend(redis_url: str, prefix: str) -> AsyncIterator[Backend]:
    opened = await connect_redis(redis_url, prefix=prefix)
    yield opened
    await opened.store.close()


@pytest.fixture(scope="session")
async def raw(redis_url: str) -> AsyncIterator[Redis]:
    client = Redis.from_url(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
async def proxy(redis_url: str) -> AsyncIterator[Proxy]:
    parts = urlsplit(redis_url)
    assert parts.hostname is not None
    assert parts.port is not None
    async with open_proxy(parts.hostname, parts.port) as opened:
        yield opened


@pytest.fixture
async def proxied(proxy: Proxy, prefix: str) -> AsyncIterator[Backend]:
    opened = await connect_redis(proxy.url, prefix=prefix)
    yield opened
    await opened.store.close()


@pytest.fixture
def one_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a call make one attempt more, at once: what does not pass fails soon."""
    monkeypatch.setattr(attempts, "_PAUSES_SECONDS", (0.02,))
