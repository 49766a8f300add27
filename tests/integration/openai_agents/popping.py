"""A workflow that pops items of a session; it needs nothing of the SDK."""

from __future__ import annotations

import asyncio
from typing import Any

from temporalio import workflow

from durable_memory import AgentMemory
from durable_memory.openai_agents import MemorySession


@workflow.defn
class Pop:
    """Pops one message twice at once, and then calls that wait for their results, and what was said before them."""

    @workflow.run
    async def run(self, resource: str, key: str) -> list[Any]:
        """See class."""
        session = MemorySession(AgentMemory(resource, key=key))
        await session.add_items([{"role": "user", "content": "Hi"}])
        popped = list(await asyncio.gather(session.pop_item(), session.pop_item()))
        call = {"type": "function_call", "call_id": "call_A-17", "name": "track", "arguments": "{}"}
        await session.add_items([call])
        popped.append(await session.pop_item())
        await session.add_items([{"role": "user", "content": "Where is A-17?"}, {**call, "call_id": "again"}])
        return [*popped, *[await session.pop_item() for _ in range(3)]]
