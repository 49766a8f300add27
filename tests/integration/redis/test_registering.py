"""What it costs to note who writes to a memory."""

from __future__ import annotations

import asyncio
import time
import uuid

from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.index_port import ProjectIndex

FEW, MANY = 20, 4_000


async def registered(index: ProjectIndex, project: str, pairs: list[tuple[str, str]]) -> None:
    """Registers pairs of key and workflow id, some at a time."""
    slots = asyncio.Semaphore(20)

    async def one(key: str, workflow_id: str) -> None:
        async with slots:
            await index.register(MemoryId(project, "desk", key), Owner("ns", workflow_id, "run"))

    await asyncio.gather(*(one(*pair) for pair in pairs))


async def quickest(index: ProjectIndex, project: str, key: str, workflow_id: str) -> float:
    """The shortest of many registrations: what the machine does besides makes none shorter."""
    times = []
    for _ in range(100):
        began = time.perf_counter()
        await index.register(MemoryId(project, "desk", key), Owner("ns", workflow_id, "run"))
        times.append(time.perf_counter() - began)
    return min(times)


async def test_registering_costs_the_same_however_many_memories_the_owner_has(backend: Backend) -> None:
    project = f"project-{uuid.uuid4().hex}"
    await registered(backend.index, project, [(f"user:{number}", "few") for number in range(FEW)])
    few = await quickest(backend.index, project, "user:1", "few")
    await registered(backend.index, project, [(f"user:{number}", "many") for number in range(MANY)])
    assert await quickest(backend.index, project, "user:1", "many") < 5 * few


async def test_registering_costs_the_same_however_many_owners_the_memory_has(backend: Backend) -> None:
    project = f"project-{uuid.uuid4().hex}"
    await registered(backend.index, project, [("few", f"wf-{number}") for number in range(FEW)])
    few = await quickest(backend.index, project, "few", "wf-1")
    await registered(backend.index, project, [("many", f"wf-{number}") for number in range(MANY)])
    assert await quickest(backend.index, project, "many", "wf-1") < 5 * few
