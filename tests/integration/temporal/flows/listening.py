"""A workflow that takes what it is sent and returns as soon as it has all of it."""

from __future__ import annotations

from temporalio import workflow

from durable_memory import AgentMemory


@workflow.defn
class Listens:
    """Returns what it was told, in the moment in which it has heard it."""

    def __init__(self) -> None:
        self._heard: list[str] = []

    @workflow.signal
    def tell(self, text: str) -> None:
        """Takes a text."""
        self._heard.append(text)

    @workflow.run
    async def run(self, key: str) -> list[str]:
        """See class."""
        await workflow.wait_condition(lambda: bool(self._heard))
        taken = 0
        memory = AgentMemory("kept", key=key)
        while taken < len(self._heard):
            taken += 1
            await memory.append(self._heard[taken - 1])
        return self._heard[:taken]
