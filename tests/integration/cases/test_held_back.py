"""An append that a full overflow holds back says who makes room, and a client that wakes nobody says that too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from durable_memory import MemoryBackpressure, MemoryClient, Message, Registry
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.memory import Memory

SENTENCE = "The parcel left the depot in Lyon on Monday and is on its way to you. " * 4
NARROW = {
    "resource": "memory",
    "id": "narrow",
    "max_tokens": 400,
    "persistence": {"type": "in_memory"},
    "flushing": {"summary_tokens": 80, "keep_last": 1},
    "overflow": {"max_tokens": 800},
}


class Bell:
    """A waker that notes whom it was to wake."""

    def __init__(self) -> None:
        self.woken: list[MemoryId] = []

    async def wake(self, memory: MemoryId, *, force: bool = False) -> None:  # noqa: ARG002 - as a waker takes it
        self.woken.append(memory)


async def _append(memory: Memory) -> None:
    await memory.append(SENTENCE)


async def _record(memory: Memory) -> None:
    await memory.record_turn([Message.user(SENTENCE)])


async def _fill(memory: Memory) -> None:
    with suppress(MemoryBackpressure):
        while True:
            await memory.append(SENTENCE)


@pytest.mark.parametrize("call", [_append, _record])
async def test_a_client_that_wakes_no_flusher_says_so_and_passes_after_a_flush(
    call: Callable[[Memory], Awaitable[None]],
) -> None:
    async with await MemoryClient.connect(memories=Registry.from_resources([NARROW])) as client:
        memory = client.memory("narrow", "key")

        await _fill(memory)

        with pytest.raises(MemoryBackpressure) as refused:
            await call(memory)

        [full] = (await memory.health()).problems
        assert full.endswith("appends that would add more than the rest are refused until a flush has made room")
        held_back = refused.value
        assert "the same call passes after the next flush; but this client wakes no flusher" in held_back.message
        assert "waker=TemporalWaker" in held_back.message
        assert held_back.retry_after_ms == 2000
        await memory.flush()
        await call(memory)


async def test_who_asks_for_a_turn_before_the_model_is_held_back_then_and_asks_no_model_in_vain() -> None:
    async with await MemoryClient.connect(memories=Registry.from_resources([NARROW])) as client:
        memory = client.memory("narrow", "key")
        recorded = await memory.record_turn([Message.user(SENTENCE)], operation_id="turn-1")
        assert await memory.recorded_turn(operation_id="turn-2") is None

        await _fill(memory)

        with pytest.raises(MemoryBackpressure, match="the same call passes after the next flush"):
            await memory.recorded_turn(operation_id="turn-2")
        found = await memory.recorded_turn(operation_id="turn-1")
        assert (found and found.result.ids) == recorded.result.ids
        await memory.flush()
        assert await memory.recorded_turn(operation_id="turn-2") is None


async def test_an_agent_is_held_back_by_any_of_its_memories_before_it_asks_a_model() -> None:
    wide = {"resource": "memory", "id": "wide", "max_tokens": 9_000, "persistence": {"type": "in_memory"}}
    agent = {"resource": "agent", "id": "clerk", "memory": True, "memories": ["wide", "narrow"], "memory_key": "key"}
    async with await MemoryClient.connect(memories=Registry.from_resources([wide, NARROW, agent])) as client:
        clerk = client.agent("clerk")
        assert await clerk.recorded_turn(operation_id="turn-1") is None

        await _fill(clerk.memories[1])

        with pytest.raises(MemoryBackpressure, match=r"^narrow: "):
            await clerk.recorded_turn(operation_id="turn-1")
        await clerk.memories[1].flush()
        assert await clerk.recorded_turn(operation_id="turn-1") is None


async def test_a_memory_that_drops_or_is_full_of_pins_holds_no_turn_back() -> None:
    drops = {**NARROW, "id": "drops", "flushing": {"type": "drop"}, "overflow": None}
    del drops["overflow"]
    async with await MemoryClient.connect(memories=Registry.from_resources([NARROW, drops])) as client:
        for memory in (client.memory("drops", "key"), client.memory("narrow", "pins")):
            for _ in range(3):
                await memory.append(Message.user(SENTENCE, pinned=memory.id.key == "pins"))
            assert await memory.recorded_turn(operation_id="turn-1") is None


async def test_a_client_with_a_waker_wakes_and_says_nothing_of_it() -> None:
    bell = Bell()
    async with await MemoryClient.connect(memories=Registry.from_resources([NARROW]), waker=bell) as client:
        memory = client.memory("narrow", "key")

        await _fill(memory)
        bell.woken.clear()

        with pytest.raises(MemoryBackpressure, match=r"after the next flush$"):
            await memory.append(SENTENCE)

        assert [one.resource for one in bell.woken] == ["narrow"]
