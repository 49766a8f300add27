"""Connections of models that are not declared any more are closed, but not under a flush that asks one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from durable_memory import MemoryClient, Registry
from durable_memory.memory.memory import Memory
from tests.integration.llm.endpoint import SUMMARY, Endpoint, Says
from tests.integration.llm.rig import RULES, declared
from tests.integration.temporal.background import texts
from tests.integration.temporal.rig import unique


def registry(service: Endpoint, prompt: str) -> Registry:
    return Registry.from_resources([declared("desk", service.url, prompt=prompt)])


async def flushed(memory: Memory) -> None:
    await memory.append(texts(3))
    assert (await memory.flush(force=True)).outcome == "committed"


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - the service notes it in tasks of its own
            await asyncio.sleep(0.005)


async def test_each_edit_of_a_prompt_leaves_one_connection_open(redis_url: str, service: Endpoint) -> None:
    first = registry(service, "Edit 0.")
    async with await MemoryClient.connect(redis_url, memories=first, project=unique("project")) as memories:
        await flushed(memories.memory("desk", "key"))
        for number in range(1, 4):
            memories.use(registry(service, f"Edit {number}."))
            await until(lambda: service.open == 0)
            await flushed(memories.memory("desk", "key"))
            assert (service.taken, service.open) == (number + 1, 1)


async def test_what_stays_declared_keeps_its_connection(redis_url: str, service: Endpoint) -> None:
    async with await MemoryClient.connect(
        redis_url, memories=registry(service, "The same."), project=unique("project")
    ) as memories:
        await flushed(memories.memory("desk", "key"))
        memories.use(Registry.from_resources([declared("desk", service.url, prompt="The same."), RULES]))
        await flushed(memories.memory("desk", "key"))
        assert (service.taken, service.open) == (1, 1)


async def test_a_flush_keeps_the_model_that_it_asks_until_it_has_answered(redis_url: str, service: Endpoint) -> None:
    service.default = Says(gate=asyncio.Event())
    gate = service.default.gate
    assert gate is not None
    async with await MemoryClient.connect(
        redis_url, memories=registry(service, "Before."), project=unique("project")
    ) as memories:
        memory = memories.memory("desk", "key")
        await memory.append(texts(3))
        flush = asyncio.create_task(memory.flush(force=True))
        await service.asked.wait()
        await asyncio.to_thread(memories.use, registry(service, "After."))
        await asyncio.sleep(0.05)
        assert service.open == 1
        gate.set()
        assert (await flush).outcome == "committed"
        (summary,) = [message for message in (await memory.read()).messages if message.section == "long_term"]
        assert SUMMARY in summary.text
        await until(lambda: service.open == 0)
