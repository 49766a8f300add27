"""Everything at once: writers, flushes, cancellations, failing summaries, cut connections; nothing lost or doubled."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable
from typing import Any

from redis.asyncio import Redis

from durable_memory import MemoryClient, Registry
from durable_memory.memory.errors import MemoryBackpressure, MemorySummaryRejected, MemoryUnavailable
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.memory import Memory

WRITERS, EACH, MOST = 6, 40, 300
STORMY: dict[str, Any] = {
    "resource": "memory",
    "id": "stormy",
    "max_tokens": MOST,
    "scope": "user",
    "flushing": {"summary_tokens": 60, "keep_last": 1, "summarize_threshold": 0.6, "target_ratio": 0.2},
    "locking": {"flush_ttl": "1s"},
}


class Moody:
    """A summariser that is slow, fails, and has nothing to say, by turns."""

    max_input_tokens: int | None = None

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    async def summarize(self, request: SummaryRequest) -> str:
        await asyncio.sleep(self.random.random() / 100)
        mood = self.random.random()
        if mood < 0.2:
            raise RuntimeError("no model today")
        return " " if mood < 0.3 else f"{len(request.messages)} messages"


async def sometimes_cancelled(call: Awaitable[Any], chance: random.Random) -> Any:
    """Awaits a call; now and then it is cancelled at any moment, and None is returned."""
    task = asyncio.ensure_future(call)
    if chance.random() < 0.2:
        await asyncio.sleep(chance.random() / 200)
        task.cancel()
    try:
        return await task
    except asyncio.CancelledError:
        current = asyncio.current_task()
        if current is not None and current.cancelling():
            raise
        return None


async def write_all(memories: list[Memory], writer: int) -> set[str]:
    """Appends each message until it is acknowledged; returns the ids."""
    chance = random.Random(writer)
    ids: set[str] = set()
    for number in range(EACH):
        text, result = "word " * chance.choice([1, 10]), None
        while result is None:
            append = chance.choice(memories).append(text, operation_id=f"{writer}-{number}")
            try:
                result = await sometimes_cancelled(append, chance)
            except (MemoryBackpressure, MemoryUnavailable):  # on a busy machine each of a call's attempts may be cut
                await asyncio.sleep(0.01)
        ids |= set(result.ids)
    return ids


async def flush_on(memory: Memory, seed: int) -> None:
    """Flushes again and again."""
    chance = random.Random(seed)
    while True:
        with contextlib.suppress(RuntimeError, MemorySummaryRejected, MemoryUnavailable):
            await sometimes_cancelled(memory.flush(force=chance.random() < 0.2), chance)
        await asyncio.sleep(0.003)


async def look_on(memory: Memory) -> None:
    """Reads again and again; the budget holds at every moment."""
    while True:
        with contextlib.suppress(MemoryUnavailable):
            view = await memory.read()
            assert view.tokens == sum(message.tokens or 0 for message in view.messages) <= MOST
        await asyncio.sleep(0.003)


async def cut_connections(url: str) -> None:
    """Closes the connections of everybody else, again and again."""
    async with Redis.from_url(url) as raw:
        while True:
            await asyncio.sleep(0.05)
            await raw.client_kill_filter(_type="normal", skipme=True)


async def test_in_a_storm_each_acknowledged_message_is_there_once(own_redis: str) -> None:
    declared = Registry.from_resources([STORMY])
    clients = [await MemoryClient.connect(own_redis, memories=declared, summarizer=Moody(seed)) for seed in range(3)]
    memories = [client.memory("stormy", "key") for client in clients]
    storm = [asyncio.create_task(flush_on(memory, seed)) for seed, memory in enumerate(memories)]
    storm += [asyncio.create_task(look_on(memories[0])), asyncio.create_task(cut_connections(own_redis))]
    written = await asyncio.gather(*(write_all(memories, writer) for writer in range(WRITERS)))
    broken = [task.exception() for task in storm if task.done()]
    for task in storm:
        task.cancel()
    await asyncio.gather(*storm, return_exceptions=True)
    view = await memories[0].read()
    covered = sum(int(str(message.metadata.get("covers_messages", 1))) for message in view.messages)
    assert broken == []
    assert len(set().union(*written)) == covered + view.omitted.messages == WRITERS * EACH
    await asyncio.gather(*(client.close() for client in clients))
