"""Many writers share one memory while it is flushed all the time: nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
import itertools

from durable_memory.memory.errors import MemoryBackpressure
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.values import Batch
from durable_memory.testing.contracts.builders import summarising, text_of, user
from durable_memory.testing.contracts.driven import Driven

WRITERS, EACH = 20, 200


async def write(memory: Driven, writer: int) -> None:
    """Appends the messages of one writer, waiting for the flusher where it must."""
    for number in range(EACH):
        text = f"{writer}-{number}"
        while True:
            try:
                await memory.append(user(text, number % 9 + 1), op=text)
            except MemoryBackpressure:
                await asyncio.sleep(0.01)
            else:
                break
        # The in-memory store never awaits: without this, its writers would take turns only when they are done.
        await asyncio.sleep(0)


async def flush_until(memory: Driven, stop: asyncio.Event) -> int:
    """Flushes in a loop with a summariser that needs some time, and tells how many summaries it made."""
    made = 0
    for turn in itertools.count():
        if stop.is_set():
            break
        begun = await memory.begin(f"flusher/{turn}")
        if isinstance(begun, Batch):
            await memory.summarise(begun)
            await asyncio.sleep(0.005)
            assert (await memory.commit(begun)).outcome == "committed"
            made += 1
        else:
            await asyncio.sleep(0.005)
    return made


async def test_four_thousand_messages_of_twenty_writers_are_each_in_one_place(backend: Backend) -> None:
    memory = Driven(backend.store, summarising(max_tokens=400, due_tokens=200, target_tokens=80, overflow_tokens=1600))
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        flushing = group.create_task(flush_until(memory, stop))
        await asyncio.gather(*(write(memory, writer) for writer in range(WRITERS)))
        stop.set()

    assert flushing.result() > 10
    view = await memory.read()
    summarised = [word for entry in view.entries if entry.section == "long_term" for word in text_of(entry).split()]
    live = [text_of(entry) for entry in view.entries if entry.section == "short_term"]
    sent = [f"{writer}-{number}" for writer in range(WRITERS) for number in range(EACH)]
    assert sorted([*summarised, *live, *(await memory.waiting())]) == sorted(sent)
    assert view.tokens <= 400
    await memory.check_counters()
