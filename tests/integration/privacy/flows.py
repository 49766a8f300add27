"""A workflow that says something private to a memory that keeps it out."""

from __future__ import annotations

from temporalio import workflow

from durable_memory import AgentMemory


@workflow.defn
class Tell:
    """Records what it is told and returns what the memory holds of it."""

    @workflow.run
    async def run(self, key: str, text: str) -> list[str]:
        """See class."""
        memory = AgentMemory("private", key=key)
        turn = await memory.record_turn(text)
        view = await memory.read()
        return [message.text for message in (*turn.messages, *view.messages)]
