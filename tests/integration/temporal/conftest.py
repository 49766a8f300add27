"""Workers with the plugin; each has a project and queues of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from temporalio.client import Client

from tests.integration.temporal.rig import Rig, plugin, running, unique


@pytest.fixture(scope="session")
async def rig(temporal_address: str, redis_url: str) -> AsyncIterator[Rig]:
    """What most tests share."""
    async with running(temporal_address, redis_url) as shared:
        yield shared


@pytest.fixture(scope="session", params=[1000, 0], ids=["cache-1000", "cache-0"])
async def any_cache(temporal_address: str, redis_url: str, request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    """Two workers: one that keeps workflows in its cache, one that evicts each after every task."""
    async with running(temporal_address, redis_url, max_cached_workflows=request.param) as shared:
        yield shared


@pytest.fixture
async def client(temporal_address: str, redis_url: str) -> Client:
    """A client with the plugin, of a project of its own."""
    return await Client.connect(temporal_address, plugins=[plugin(redis_url, unique("project"))])


@pytest.fixture
async def lone_client(temporal_address: str, redis_url: str) -> Client:
    """The same, whose workers run no companion beside them: for tests in which nothing is flushed."""
    return await Client.connect(temporal_address, plugins=[plugin(redis_url, unique("project"), companion=False)])
