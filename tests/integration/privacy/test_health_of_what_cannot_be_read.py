"""`health` tells what a read would fail with in the process that is asked: keys that it lacks, records that changed."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from temporalio.client import Client

from durable_memory import Memory, MemoryClient, Registry
from durable_memory.memory.errors import MemoryDamaged, MemoryUndecryptable
from tests.integration.cli.programs import run_program
from tests.integration.privacy.conftest import forget_keys
from tests.integration.worker.calling import calling
from tests.integration.worker.starting import StartWorker, folder, start_worker

__all__ = ["folder", "start_worker"]

KEYS = {name: f"{name}:{base64.b64encode(name.encode() * 16).decode()}" for name in ("k1", "k2", "k3")}
WRONG = "k1:" + base64.b64encode(b"3" * 32).decode()

OpenThread = Callable[[str | None], Awaitable[Memory]]


@pytest.fixture
def project(key: str) -> str:
    return key


@pytest.fixture
async def thread(redis_url: str, project: str, folder: Path) -> AsyncIterator[OpenThread]:
    """Opens one and the same memory as a process with these keys."""
    async with AsyncExitStack() as stack:

        async def opened(keys: str | None) -> Memory:
            registry = Registry.load([folder / "memories"])
            await forget_keys(redis_url, project)
            client = await MemoryClient.connect(redis_url, memories=registry, project=project, encryption_keys=keys)
            return (await stack.enter_async_context(client)).memory("thread", "k")

        yield opened


async def problems(memory: Memory) -> tuple[str, ...]:
    health = await memory.health()
    assert health.healthy is (health.problems == ())
    assert health.stats is not None
    return health.problems


@pytest.mark.parametrize("keys", [None, KEYS["k2"], WRONG], ids=["none", "another", "of another value"])
async def test_health_says_what_a_read_says_and_where_the_key_is_there_it_is_healthy(
    thread: OpenThread, keys: str | None
) -> None:
    right = await thread(KEYS["k1"])
    await right.append("hello")
    other = await thread(keys)
    with pytest.raises(MemoryUndecryptable) as refused:
        await other.read()
    assert await problems(other) == (f"a read fails: {refused.value.message}",)
    assert await problems(right) == ()


async def test_a_key_of_any_message_may_be_the_missing_one(thread: OpenThread) -> None:
    for keys in KEYS.values():
        await (await thread(keys)).append("hello")
    for missing in KEYS:
        [problem] = await problems(await thread(",".join(keys for name, keys in KEYS.items() if name != missing)))
        assert f"is encrypted with key {missing!r}, which this process does not have" in problem
    assert await problems(await thread(",".join(KEYS.values()))) == ()


async def test_a_flush_that_lacked_the_key_is_named_where_the_key_is_there(thread: OpenThread) -> None:
    right = await thread(KEYS["k1"])
    await right.append([f"Note number {number}, which is of no interest" for number in range(60)])
    with pytest.raises(MemoryUndecryptable):
        await (await thread(None)).flush()
    [problem] = await problems(right)
    assert "the last flush failed: MemoryUndecryptable; the worker that tried it lacks a key" in problem


async def test_the_command_tells_by_its_exit_code(thread: OpenThread, redis_url: str, folder: Path, key: str) -> None:
    await (await thread(KEYS["k1"])).append("hello")
    given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": key}
    lacking, having = await asyncio.gather(
        run_program("health", "thread", "k", "-o", "json", cwd=folder, **given),
        run_program("health", "thread", "k", cwd=folder, DURABLE_MEMORY_ENCRYPTION_KEYS=KEYS["k1"], **given),
    )
    assert (lacking.code, lacking.json()["healthy"], having.code) == (1, False, 0)
    assert "add it to DURABLE_MEMORY_ENCRYPTION_KEYS" in lacking.json()["problems"][0]


async def test_the_activity_tells_it_of_the_worker(
    thread: OpenThread, start_worker: StartWorker, temporal_client: Client, project: str
) -> None:
    await (await thread(KEYS["k1"])).append("hello")
    place = {"memory": {"resource": "thread", "key": "k"}}
    async with calling(temporal_client, project) as caller:
        async with start_worker() as worker:
            await worker.ready()
            [problem] = (await caller.call("memory.health", place))["problems"]
        async with start_worker(DURABLE_MEMORY_ENCRYPTION_KEYS=KEYS["k1"]) as worker:
            await worker.ready()
            assert (await caller.call("memory.health", place))["healthy"] is True
    assert "is encrypted with key 'k1', which this process does not have" in problem


async def lose_a_record(raw: Any, names: dict[bytes, bytes]) -> None:
    await raw.hdel(names[b"msg"], (await raw.hkeys(names[b"msg"]))[0])


async def change_a_record(raw: Any, names: dict[bytes, bytes]) -> None:
    seq, stored = next(iter((await raw.hgetall(names[b"msg"])).items()))
    await raw.hset(names[b"msg"], seq, stored.replace(b'"role"', b'"rule"'))


async def lose_the_head(raw: Any, names: dict[bytes, bytes]) -> None:
    await raw.hdel(names[b"meta"], "life")


@pytest.mark.parametrize("harm", [lose_a_record, change_a_record, lose_the_head])
async def test_a_damaged_memory_is_unhealthy_and_no_error(
    thread: OpenThread, redis_url: str, project: str, harm: Callable[[Any, dict[bytes, bytes]], Awaitable[None]]
) -> None:
    memory = await thread(None)
    await memory.append(["hello", "again"])
    async with Redis.from_url(redis_url) as raw:
        names = {name.rpartition(b":")[2]: name async for name in raw.scan_iter(match=f"*{project}*", count=1000)}
        await harm(raw, names)
    with pytest.raises(MemoryDamaged) as refused:
        await memory.read()
    health = await memory.health()
    assert not health.healthy
    assert health.problems[0].removeprefix("a read fails: ") == refused.value.message
