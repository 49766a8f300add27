"""What grows with use, and what must not: commands for an append, counting for a read, objects for memories."""

from __future__ import annotations

import asyncio
import gc
import threading
import tracemalloc
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from redis.asyncio import Redis

from durable_memory import MemoryClient, Message, Registry
from durable_memory.memory.memory import Memory
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.memory.tokens.counter import Count
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from tests.integration.cases.conftest import OpenMemory, unique


async def test_a_steady_append_is_one_command(own_redis: str, folder: Path) -> None:
    async with (
        Redis.from_url(own_redis) as raw,
        await MemoryClient.connect(own_redis, memories=[folder]) as client,
    ):
        memory = client.memory("recent", "key")
        while not (await memory.append("fills and evicts what was there before")).evicted:
            pass
        await raw.config_resetstat()
        for _ in range(20):
            await memory.append("goes into a memory that is full")
        commands = await raw.info("commandstats")
    assert commands["cmdstat_evalsha"]["calls"] == 20
    assert not {"cmdstat_eval", "cmdstat_script|load", "cmdstat_keys", "cmdstat_scan", "cmdstat_ping"} & set(commands)


@pytest.mark.parametrize(
    ("operation_id", "shortest_ms", "longest_ms"), [(None, 0, 1_200_000), ("one", 80_000_000, 90_000_000)]
)
async def test_an_append_that_nobody_can_repeat_is_remembered_for_minutes_only(
    redis_url: str, folder: Path, operation_id: str | None, shortest_ms: int, longest_ms: int
) -> None:
    project = unique("project")
    async with (
        Redis.from_url(redis_url) as raw,
        await MemoryClient.connect(redis_url, memories=[folder], project=project) as client,
    ):
        await client.memory("chat", "key").append("one", operation_id=operation_id)
        left_ms = await raw.pttl(f"dm:{{{project}/chat/key}}:ops")
    assert shortest_ms < left_ms < longest_ms


class Counting(TiktokenCounter):
    """Counts how often it is asked."""

    asked = 0

    async def count(self, messages: Sequence[Message]) -> list[Count]:
        self.asked += 1
        return await super().count(messages)


async def test_reading_counts_no_tokens(redis_url: str, folder: Path) -> None:
    counter = Counting()
    backend = await connect_redis(redis_url)
    client = MemoryClient(Registry.load([folder]), {"redis": backend}, project=unique("project"), counter=counter)
    async with client:
        memory = client.memory("chat", "key")
        await memory.append([f"message {number}" for number in range(100)])
        asked = counter.asked
        for view in (await memory.read(), await memory.read(limit=3), await memory.read(max_tokens=200)):
            assert view.tokens == sum(message.tokens or 0 for message in view.messages)
        assert counter.asked == asked


async def test_thousands_of_memories_leave_no_object_task_or_thread_behind(own_redis: str, folder: Path) -> None:
    async def look(memory: Memory) -> None:
        await memory.stats()

    async def use(memory: Memory) -> None:
        await memory.append("hello")
        await memory.read()

    async def each(numbers: range, call: Callable[[Memory], Awaitable[None]]) -> None:
        for start in range(numbers.start, numbers.stop, 100):
            several = range(start, start + 100)
            await asyncio.gather(*(call(client.memory("chat", f"{prefix}-{number}")) for number in several))

    prefix = unique("many")
    async with await MemoryClient.connect(own_redis, memories=[folder]) as client:
        await use(client.memory("chat", prefix))  # the first one loads the tokenizer
        await each(range(4_200), look)  # the caches are full from here on, but for who has written to which memory
        tasks, threads = len(asyncio.all_tasks()), threading.active_count()
        gc.collect()
        tracemalloc.start()
        await each(range(4_200, 5_400), use)
        gc.collect()
        grown, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # By type(): isinstance asks the proxies of a sandbox, whose workflow has ended, for their class.
        assert not any(type(thing) is Memory and thing.id.key.startswith(prefix) for thing in gc.get_objects())
        assert (len(asyncio.all_tasks()), threading.active_count()) <= (tasks + 5, threads + 5)
        assert grown < 4_000_000, grown


async def test_a_megabyte_of_a_tool_is_smaller_after_its_flush(open_memory: OpenMemory) -> None:
    memory = open_memory("archive")
    call = {"id": "1", "function": {"name": "export", "arguments": {}}}
    await memory.append([{"role": "assistant", "tool_calls": [call]}, Message.tool("row " * 250_000, "1"), "Thanks."])
    await memory.append(["Bye.", "Bye."])
    before = await memory.read()
    result = await memory.flush(force=True)
    assert result.outcome == "committed"
    assert result.tokens_after == (await memory.read()).tokens < before.tokens
