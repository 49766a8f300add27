"""`dev_servers` starts what the environment does not give, finds its data again, and stops what it started."""

from __future__ import annotations

import asyncio
import re
import urllib.request
from pathlib import Path

import psutil
import pytest
from redis.asyncio import Redis
from temporalio.client import Client, WorkflowExecutionStatus

from durable_memory.dev import DevPlaces, ServerEndedError, ServerStartError, dev_servers, start_valkey, watched
from tests.logs import said_by
from tests.ports import quiet_ports

NOWHERE = "temporal.example:7233"


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
    async with dev_servers(DevPlaces(tmp_path / "data"), redis_url=redis_url, temporal_address=NOWHERE) as servers:
        assert (servers.redis_url, servers.temporal_address) == (redis_url, NOWHERE)
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


def server_in(folder: Path) -> psutil.Process:
    [found] = [child for child in psutil.Process().children() if child.cwd() == str(folder)]
    return found


async def lose(name: str, folder: Path, **given: str) -> None:
    """Kills a started server, and goes on as if nothing had happened."""
    async with asyncio.timeout(60), dev_servers(DevPlaces(folder), **given):
        for file in (folder / "valkey" / "appendonlydir").glob("*.manifest"):
            file.write_text("no manifest at all")
        server_in(folder / name).kill()
        await asyncio.Event().wait()


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [f"{record.levelname}: {record.getMessage()}" for record in said_by(caplog, watched.__name__)]


async def test_a_valkey_that_is_killed_is_reported_and_runs_again_where_it_was_with_its_data(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = children()
    async with dev_servers(DevPlaces(tmp_path), temporal_address=NOWHERE) as servers:
        async with Redis.from_url(servers.redis_url) as redis:
            await redis.set("kept", "yes")
        server_in(tmp_path / "valkey").kill()
        async with asyncio.timeout(60):
            while len(lines(caplog)) < 2:  # noqa: ASYNC110 - a log gives no sign
                await asyncio.sleep(0.02)
        async with Redis.from_url(servers.redis_url) as redis:
            assert await redis.get("kept") == b"yes"
        assert lines(caplog) == [
            "ERROR: valkey ended with code -9 (Killed); it is started again with its data",
            "WARNING: valkey runs again",
        ]
    assert children() == before


async def test_a_temporal_that_is_killed_is_reported_and_ends_the_block(
    tmp_path: Path, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = children()
    said = "temporal ended with code -9 (Killed); its log and its data are in "
    with pytest.raises(ServerEndedError, match=f"^{re.escape(said)}"):
        await lose("temporal", tmp_path, redis_url=redis_url)
    [line] = lines(caplog)
    assert line.startswith(f"ERROR: {said}")
    assert children() == before


async def test_a_valkey_that_cannot_be_started_again_ends_the_block(tmp_path: Path) -> None:
    with pytest.raises(ServerStartError, match=r"^valkey ended at its start"):
        await lose("valkey", tmp_path, temporal_address=NOWHERE)


async def test_an_error_and_a_cancellation_of_the_block_stay_what_they_are(tmp_path: Path, redis_url: str) -> None:
    with pytest.raises(KeyError, match="of the block"):
        async with dev_servers(DevPlaces(tmp_path), redis_url=redis_url):
            raise KeyError("of the block")

    async def work() -> None:
        async with dev_servers(DevPlaces(tmp_path), redis_url=redis_url):
            running.set()
            await asyncio.Event().wait()

    running = asyncio.Event()
    task = asyncio.create_task(work())
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
