"""A pool of Redis connections may be collected at any moment, also while a worker imports its workflows."""

from __future__ import annotations

import gc
import sys
from typing import Any

import pytest
from redis.asyncio import ConnectionPool, Redis
from temporalio.client import Client
from temporalio.worker import Worker

from tests.integration.temporal.flows.calls import Append
from tests.integration.temporal.rig import plugin, unique


@pytest.fixture
async def pools(redis_url: str) -> list[ConnectionPool]:
    """The only reference to a pool that has idle connections: its finalizer imports a module of redis-py."""
    redis = Redis.from_url(redis_url)
    await redis.ping()
    pools = [redis.connection_pool]
    await redis.aclose()
    del redis
    return pools


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="imports within imports are no danger since Python 3.12")
async def test_a_pool_that_is_collected_during_an_import_of_the_sandbox_fails_no_worker(
    temporal_address: str, redis_url: str, pools: list[ConnectionPool], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Collecting(dict[int, Any]):
        """The record in which importlib notes who waits for a module: while it does, the pool is collected."""

        def __setitem__(self, thread: int, lock: Any) -> None:
            super().__setitem__(thread, lock)
            if pools and "tests.integration.temporal.flows" in repr(lock):
                pools.clear()
                gc.collect()

    client = await Client.connect(temporal_address, plugins=[plugin(redis_url, unique("project"))])
    monkeypatch.setattr("importlib._bootstrap._blocking_on", Collecting())
    Worker(client, task_queue=unique("queue"), workflows=[Append])
    assert pools == []
