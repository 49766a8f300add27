"""What a log says of a Redis that is away for a while: a line at each end, and nothing private."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from redis.asyncio import Redis
from redis.exceptions import ClusterDownError, ResponseError

from durable_memory.dev import Valkey, start_valkey
from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis import attempts, outage
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.testing.contracts.builders import summarising, user
from durable_memory.testing.contracts.driven import Driven
from tests.integration.redis.proxy import Proxy
from tests.integration.redis.topologies import ask
from tests.logs import said_by
from tests.ports import quiet_ports

WIDE = summarising(max_tokens=1_000_000, due_tokens=None, target_tokens=None, overflow_tokens=2_000_000)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [f"{record.levelname}: {record.getMessage()}" for record in said_by(caplog, outage.__name__)]


async def until_said(caplog: pytest.LogCaptureFixture, count: int) -> None:
    async with asyncio.timeout(60):
        while len(lines(caplog)) < count:  # noqa: ASYNC110 - a log gives no sign
            await asyncio.sleep(0.02)


@pytest.fixture
async def valkey(tmp_path: Path) -> AsyncIterator[Valkey]:
    [port] = quiet_ports(1)
    started = await start_valkey(tmp_path, port=port)
    yield started
    started.server.kill()


@pytest.fixture
async def connected(valkey: Valkey) -> AsyncIterator[Backend]:
    opened = await connect_redis(valkey.url)
    yield opened
    await opened.store.close()


async def test_a_redis_that_is_stopped_and_started_leaves_one_line_for_each(
    valkey: Valkey, connected: Backend, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    driven = Driven(connected.store, WIDE)
    await driven.append(user("before"))
    assert lines(caplog) == []
    await valkey.server.stop()
    calls = [asyncio.create_task(driven.append(user(f"said meanwhile {number}"))) for number in range(20)]
    await until_said(caplog, 1)
    again = await start_valkey(tmp_path, port=valkey.server.ports[0])
    await asyncio.gather(*calls)
    await driven.append(user("after"))
    first, second = lines(caplog)
    assert first == f"WARNING: Redis at {valkey.url} does not answer as it should (ConnectionError): calls are retried"
    assert re.fullmatch(rf"WARNING: Redis at {valkey.url} answers again; calls began to fail \d\.\d s ago", second)
    again.server.kill()


@pytest.mark.usefixtures("one_retry")
async def test_links_of_one_process_to_the_same_redis_leave_one_line_for_each_together(
    valkey: Valkey, connected: Backend, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = await connect_redis(valkey.url)
    both = [Driven(backend.store, WIDE) for backend in (connected, other)]
    for driven in both:
        await driven.append(user("before"))
    valkey.server.kill()
    for driven in both:
        with pytest.raises(MemoryUnavailable, match="cannot be reached"):
            await driven.append(user("lost"))
    assert len(lines(caplog)) == 1
    again = await start_valkey(tmp_path, port=valkey.server.ports[0])
    for driven in both:
        await driven.append(user("after"))
    assert [line.partition(valkey.url)[2][:14] for line in lines(caplog)] == [" does not answ", " answers again"]
    again.server.kill()
    await other.store.close()


async def test_a_redis_that_is_paused_leaves_one_line_for_each_and_says_how_long(
    valkey: Valkey, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("durable_memory.memory.stores.redis.link.EXCHANGE_SECONDS", 0.5)
    backend = await connect_redis(valkey.url)
    driven = Driven(backend.store, WIDE)
    await driven.append(user("before"))
    process = psutil.Process(valkey.server.pid)
    process.send_signal(signal.SIGSTOP)
    calls = [asyncio.create_task(driven.append(user("said meanwhile"))) for _ in range(80)]
    await until_said(caplog, 1)
    await asyncio.sleep(1.1)
    process.send_signal(signal.SIGCONT)
    await asyncio.gather(*calls)
    await driven.append(user("after"))
    first, second = lines(caplog)
    assert first == f"WARNING: Redis at {valkey.url} does not answer as it should (TimeoutError): calls are retried"
    seconds = re.search(r"answers again; calls began to fail (\d+\.\d) s ago", second)
    assert seconds is not None
    assert float(seconds[1]) >= 1
    await backend.store.close()


@pytest.mark.usefixtures("one_retry")
async def test_calls_that_fail_for_good_do_not_end_an_outage_and_begin_no_other(
    valkey: Valkey, connected: Backend, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    driven = Driven(connected.store, WIDE)
    await driven.append(user("before"))
    valkey.server.kill()
    for _ in range(3):
        with pytest.raises(MemoryUnavailable, match="cannot be reached"):
            await driven.append(user("lost"))
    assert len(lines(caplog)) == 1
    again = await start_valkey(tmp_path, port=valkey.server.ports[0])
    await driven.append(user("after"))
    assert [line.partition(valkey.url)[2][:14] for line in lines(caplog)] == [" does not answ", " answers again"]
    again.server.kill()


async def test_an_idle_connection_that_was_closed_is_no_outage(
    proxied: Backend, proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    driven = Driven(proxied.store, WIDE)
    await driven.append(user("before"))
    proxy.cut_before = 1
    await driven.append(user("after"))
    assert proxy.cut_before == 0
    assert lines(caplog) == []


async def test_a_refusal_is_named_by_its_code_and_told_in_the_outage_that_it_is(
    proxied: Backend, proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    driven = Driven(proxied.store, WIDE)
    await driven.append(user("before"))
    proxy.refusals += [b"-MISCONF Redis is configured to save RDB snapshots for user:42.\r\n"] * 2
    await driven.append(user("after"))
    first, second = lines(caplog)
    assert first == f"WARNING: Redis at {proxy.url} does not answer as it should (MISCONF): calls are retried"
    assert "answers again" in second


async def test_a_call_waits_for_the_end_of_a_script_of_somebody_else(
    valkey: Valkey, connected: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    driven = Driven(connected.store, WIDE)
    await driven.append(user("before"))
    async with (
        Redis.from_url(valkey.url) as raw,
        Redis.from_url(valkey.url, socket_timeout=None, single_connection_client=True) as other,
    ):
        await raw.config_set("busy-reply-threshold", 20)
        script = asyncio.create_task(ask(other, "EVAL", "while true do end", 0))
        await asyncio.sleep(0.3)
        waiting = asyncio.create_task(driven.append(user("meanwhile")))
        with pytest.raises(MemoryUnavailable, match=r"refuses calls for now: BUSY .* busy running a script"):
            await connected.store.ping()
        await until_said(caplog, 1)
        assert not waiting.done()
        await raw.script_kill()
        with pytest.raises(ResponseError, match="killed"):
            await script
    assert not (await waiting).already_applied
    assert await driven.texts() == ["before", "meanwhile"]
    assert "as it should (BUSY)" in lines(caplog)[0]


@pytest.mark.parametrize(
    "answer",
    [
        "LOADING Redis is loading the dataset in memory",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "MISCONF Errors writing to the AOF file: No space left on device",
    ],
)
@pytest.mark.usefixtures("one_retry")
async def test_what_a_server_answers_that_is_there_is_told_in_its_words(
    proxied: Backend, proxy: Proxy, answer: str
) -> None:
    proxy.refusals += [f"-{answer} script: 12ab, on @user_script:309.\r\n".encode()] * 2
    with pytest.raises(MemoryUnavailable) as refused:
        await Driven(proxied.store, WIDE).append(user("lost"))
    assert refused.value.message == f"Redis at {proxy.url} refuses calls for now: {answer}"


@pytest.mark.usefixtures("one_retry")
async def test_reads_that_are_answered_end_no_outage_of_writes(
    valkey: Valkey, connected: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    driven = Driven(connected.store, WIDE)
    await driven.append(user("before"))
    async with Redis.from_url(valkey.url) as raw:
        await raw.config_set("min-replicas-to-write", 1)
        for _ in range(3):
            with pytest.raises(MemoryUnavailable, match=r"refuses calls for now: NOREPLICAS Not enough good replicas"):
                await driven.append(user("lost"))
            assert await driven.texts() == ["before"]
        with pytest.raises(MemoryUnavailable, match="refuses calls for now: NOREPLICAS"):
            await connected.store.ping()
        assert [line.partition(valkey.url)[2] for line in lines(caplog)] == [
            " does not answer as it should (NOREPLICAS): calls are retried"
        ]
        await raw.config_set("min-replicas-to-write", 0)
    await connected.store.ping()
    assert "answers again" in lines(caplog)[1]


async def test_another_server_of_a_cluster_that_answers_ends_no_outage(caplog: pytest.LogCaptureFixture) -> None:
    cluster = attempts.Attempts("redis+cluster://here", servers=True)
    down = True

    async def by_one() -> str:
        return "answered"

    async def by_another() -> str:
        if down:
            raise ClusterDownError("Hash slot not served")
        return "answered"

    await cluster.until_answered(by_one)
    waiting = asyncio.create_task(cluster.until_answered(by_another))
    await until_said(caplog, 1)
    for _ in range(10):
        await cluster.until_answered(by_one)
    assert len(lines(caplog)) == 1
    down = False
    await waiting
    assert len(lines(caplog)) == 2


async def test_a_probe_that_fails_says_so_itself_and_leaves_no_line(
    valkey: Valkey, connected: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    await connected.store.ping()
    valkey.server.kill()
    with pytest.raises(MemoryUnavailable, match="cannot be reached"):
        await connected.store.ping()
    assert lines(caplog) == []
