"""A workflow that ends, and handlers that a late caller may still reach."""

from __future__ import annotations

from temporalio import workflow

from durable_memory import AgentMemory


@workflow.defn
class EndAtOnce:
    """Appends once and returns; its handlers count."""

    def __init__(self) -> None:
        self._heard = 0

    @workflow.signal
    def tell(self) -> None:
        """Counts."""
        self._heard += 1

    @workflow.update
    def ask(self) -> int:
        """Counts, and answers how often."""
        self._heard += 1
        return self._heard

    @workflow.run
    async def run(self, key: str) -> int:
        """Returns what was heard by then."""
        await AgentMemory("scratch", key=key).append("Hello.")
        return self._heard
