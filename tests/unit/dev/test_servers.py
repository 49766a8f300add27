"""`dev_servers` starts what the environment does not give, finds its data again, and stops what it started."""

from __future__ import annotations

import asyncio
import urllib.request
from pathlib import Path

import psutil
import pytest
from redis.asyncio import Redis
from temporalio.client import Client, WorkflowExecutionStatus

from durable_memory.dev import DevPlaces, ServerStartError, dev_servers, start_valkey
from tests.ports import quiet_ports


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children()}


async def test_the_data_of_both_servers_is_there_again_at_the_next_start(tmp_path: Path) -> None:
    before = children()
    async with dev_servers(DevPlaces(tmp_path)) as servers:
        assert servers.started == ("valkey", "temporal")
        async with Redis.from_url(servers.redis_url) as redis:
            await redis.set("kept", "yes")
        client = await Client.connect(servers.temporal_address)
        await client.start_workflow("NobodyRunsIt", id="kept", task_queue="none")
        page = await asyncio.to_thread(urllib.request.urlopen, f"{servers.temporal_ui}/")
        with page:
            assert page.status == 200
    assert children() == before
    async with dev_servers(DevPlaces(tmp_path)) as servers:
        async with Redis.from_url(servers.redis_url) as redis:
            assert await redis.get("kept") == b"yes"
        client = await Client.connect(servers.temporal_address)
        assert (await client.get_workflow_handle("kept").describe()).status == WorkflowExecutionStatus.RUNNING
    assert children() == before


async def test_a_given_server_is_used_as_it_is_and_not_started(tmp_path: Path, redis_url: str) -> None:
    before = children()
    async with dev_servers(
        DevPlaces(tmp_path / "data"), redis_url=redis_url, temporal_address="temporal.example:7233"
    ) as servers:
        assert (servers.redis_url, servers.temporal_address) == (redis_url, "temporal.example:7233")
        assert (servers.temporal_ui, servers.started) == (None, ())
        assert children() == before
    assert not (tmp_path / "data").exists()


async def test_a_server_that_cannot_start_stops_the_one_that_did(tmp_path: Path) -> None:
    before = children()
    (tmp_path / "temporal").mkdir()
    (tmp_path / "temporal" / "temporal.sqlite").write_text("no database at all, but long enough to be looked at " * 99)
    with pytest.raises(ServerStartError, match=r"^temporal ended at its start with code 1: "):
        async with dev_servers(DevPlaces(tmp_path)):
            pytest.fail("it started on a damaged database")
    assert children() == before


async def test_with_always_no_acknowledged_write_is_lost_at_a_kill_9(tmp_path: Path) -> None:
    (port,) = quiet_ports(1)
    valkey = await start_valkey(tmp_path, port=port, fsync="always")
    async with Redis.from_url(valkey.url) as redis:
        for number in range(50):
            await redis.rpush("writes", number)
        valkey.server.kill()
    again = await start_valkey(tmp_path, port=port, fsync="always")
    async with Redis.from_url(again.url) as redis:
        assert await redis.llen("writes") == 50
    assert again.url == valkey.url
    await again.server.stop()
