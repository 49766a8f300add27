"""The circuit breaker of a resource on a Valkey that stands still for a while, through declaration and client."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from durable_memory import MemoryClient, Registry
from durable_memory.dev import Valkey, start_valkey
from durable_memory.memory.errors import MemoryOversize, MemoryUnavailable
from tests.integration.redis.topologies import ask

BREAKER = {"enabled": True, "timeout": "400ms", "max_failures": 3, "reset_timeout": "3s"}
REGISTRY = Registry.from_resources(
    [
        {"resource": "memory", "id": "guarded", "max_tokens": 1000, "persistence": {"circuit_breaker": BREAKER}},
        {"resource": "memory", "id": "plain", "max_tokens": 1000},
        {
            "resource": "memory",
            "id": "busy",
            "max_tokens": 1_000_000,
            "persistence": {"circuit_breaker": {"enabled": True}},
        },
    ]
)


@pytest.fixture(scope="module")
async def valkey(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Valkey]:
    started = await start_valkey(tmp_path_factory.mktemp("paused"))
    yield started
    started.server.kill()


@pytest.fixture
async def client(valkey: Valkey) -> AsyncIterator[MemoryClient]:
    project = f"breaker-{uuid.uuid4().hex[:8]}"
    async with await MemoryClient.connect(valkey.url, memories=REGISTRY, project=project) as opened:
        yield opened


@contextmanager
def standing_still(valkey: Valkey) -> Iterator[None]:
    """While this is open the server takes connections and answers nothing."""
    os.kill(valkey.server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(valkey.server.pid, signal.SIGCONT)


@contextmanager
def busy_machine() -> Iterator[None]:
    """While this is open, two other programs want each core."""
    burn = [sys.executable, "-c", "while True: pass"]
    programs = [subprocess.Popen(burn) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


async def until_busy(redis: Redis) -> None:
    """Waits until a script of another connection holds up the server."""
    while True:
        try:
            await redis.ping()
        except ResponseError:
            return


async def append_once_it_closes(client: MemoryClient, text: str, operation_id: str) -> None:
    """What Temporal's retries do: the same call again, after the wait that it was told."""
    for _ in range(50):
        try:
            await client.memory("guarded", "k").append(text, operation_id=operation_id)
        except MemoryUnavailable as error:
            await asyncio.sleep((error.retry_after_ms or 50) / 1000)
        else:
            return
    pytest.fail("the breaker did not close")


async def test_a_store_that_stands_still_costs_one_timeout_a_call_then_nothing_and_heals(
    client: MemoryClient, valkey: Valkey
) -> None:
    memory = client.memory("guarded", "k")
    await memory.append("before")
    with standing_still(valkey):
        for _ in range(3):
            with pytest.raises(MemoryUnavailable, match="did not answer within 400 ms"):
                await memory.append("timed out", operation_id="turn-2")
        started = time.perf_counter()
        for number in range(50):
            with pytest.raises(MemoryUnavailable, match=r"guarded: the circuit breaker is open.*tries it again"):
                await client.memory("guarded", f"other {number}").read()
        assert time.perf_counter() - started < 2, "fifty calls must not wait for the store"
        health = await memory.health()
        assert not health.healthy
        assert "circuit breaker is open" in health.problems[0]
    await append_once_it_closes(client, "timed out", "turn-2")
    assert [message.content for message in (await memory.read()).messages] == ["before", "timed out"]


async def test_a_new_memorys_first_append_keeps_to_the_timeout_as_well(client: MemoryClient, valkey: Valkey) -> None:
    await client.memory("plain", "k").append("loads the tokenizer")
    with standing_still(valkey):
        started = time.perf_counter()
        with pytest.raises(MemoryUnavailable, match="within 400 ms"):
            await client.memory("guarded", "new").append("hello")
        assert time.perf_counter() - started < 7, "without the timeout it tries for eight seconds"


async def test_refusals_never_open_it(client: MemoryClient) -> None:
    memory = client.memory("guarded", "refusing")
    for _ in range(8):
        with pytest.raises(MemoryOversize):
            await memory.append("word " * 2000)
    assert (await memory.append("fits")).messages == 1


@pytest.mark.parametrize(
    ("setting", "why", "more"),
    [
        ("maxmemory", "is out of memory", ""),
        ("min-replicas-to-write", "NOREPLICAS", "; that did not pass within 400 ms"),
    ],
)
async def test_a_store_that_refuses_writes_alone_goes_on_to_serve_reads(
    client: MemoryClient, valkey: Valkey, setting: str, why: str, more: str
) -> None:
    memory = client.memory("guarded", f"refused by {setting}")
    await memory.append("before")
    async with Redis.from_url(valkey.url) as redis:
        await redis.config_set(setting, 1)
        try:
            for _ in range(5):
                with pytest.raises(MemoryUnavailable, match=f"{why}.*{more}"):
                    await memory.append("refused", operation_id="turn-2")
            assert [message.content for message in (await memory.read()).messages] == ["before"]
            health = await memory.health()
        finally:
            await redis.config_set(setting, 0)
    assert why in health.problems[0]
    assert (await memory.append("refused", operation_id="turn-2")).messages == 2


async def test_a_right_that_one_call_lacks_stops_no_other_call(client: MemoryClient, valkey: Valkey) -> None:
    await client.memory("guarded", "k").append("before")
    async with Redis.from_url(valkey.url) as redis:
        await ask(redis, "ACL", "SETUSER", "reader", "on", ">secret", "~dm:*", "+@all", "-hset", "-zadd")
        address = valkey.url.replace("://", "://reader:secret@")
        async with await MemoryClient.connect(address, memories=REGISTRY, project=client.project) as reader:
            for _ in range(5):
                with pytest.raises(MemoryUnavailable, match="refuses this user the command"):
                    await reader.memory("guarded", "k").append("refused")
            assert (await reader.memory("guarded", "k").read()).messages[0].content == "before"


async def test_a_store_that_serves_nothing_opens_it_and_is_told_in_its_words(
    client: MemoryClient, valkey: Valkey
) -> None:
    memory = client.memory("guarded", "k")
    await memory.append("before")
    async with Redis.from_url(valkey.url) as redis, Redis.from_url(valkey.url) as other:
        await redis.config_set("busy-reply-threshold", 1)
        script = asyncio.ensure_future(redis.eval("while true do end", 0))
        try:
            await until_busy(other)
            for _ in range(3):
                with pytest.raises(MemoryUnavailable, match=r"refuses calls for now: BUSY.*; that did not pass within"):
                    await memory.read()
            with pytest.raises(MemoryUnavailable, match="the circuit breaker is open"):
                await memory.read()
        finally:
            await other.script_kill()
            await asyncio.gather(script, return_exceptions=True)
            await redis.config_set("busy-reply-threshold", 5000)


async def test_another_resource_on_the_same_store_has_its_own_fate(client: MemoryClient, valkey: Valkey) -> None:
    with standing_still(valkey):
        for _ in range(4):
            with pytest.raises(MemoryUnavailable):
                await client.memory("guarded", "k").read()
        waiting = asyncio.create_task(client.memory("plain", "k").append("waits and is answered"))
        await asyncio.sleep(0.2)
        assert not waiting.done()
    assert (await waiting).messages == 1


async def test_a_restarted_client_knows_nothing_of_an_open_breaker(client: MemoryClient, valkey: Valkey) -> None:
    with standing_still(valkey):
        for _ in range(3):
            with pytest.raises(MemoryUnavailable):
                await client.memory("guarded", "k").read()
    async with await MemoryClient.connect(valkey.url, memories=REGISTRY, project=client.project) as other:
        assert (await other.memory("guarded", "k").read()).messages == ()


async def test_a_burst_on_a_busy_machine_is_no_fault_of_a_healthy_store(client: MemoryClient) -> None:
    with busy_machine():
        await client.memory("busy", "warm").append("warm")
        appends = [client.memory("busy", f"k{number % 20}").append(f"{number}") for number in range(300)]
        done = await asyncio.gather(*appends, return_exceptions=True)
        assert [one for one in done if isinstance(one, BaseException)] == []
        assert (await client.memory("busy", "k0").append("after it")).messages == 16


async def test_a_store_that_stands_still_in_a_burst_opens_it_within_so_many_timeouts(
    client: MemoryClient, valkey: Valkey
) -> None:
    memory = client.memory("busy", "k")
    await memory.append("before")
    with standing_still(valkey):
        for _ in range(4):
            done = await asyncio.gather(*(memory.read() for _ in range(100)), return_exceptions=True)
            assert all("did not answer within 150 ms" in str(one) for one in done), "also of those that wait in line"
        with pytest.raises(MemoryUnavailable, match="the circuit breaker is open"):
            await memory.read()
