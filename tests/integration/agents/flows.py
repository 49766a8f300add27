"""Workflows that use a memory in the name of an agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from durable_memory import AgentMemory


@workflow.defn
class UseAs:
    """Uses a memory as an agent."""

    @workflow.run
    async def run(self, resource: str, key: str, agent: str | None, operations: list[str]) -> list[str]:
        """Calls these operations and returns, for each, `done` or the type of the error that came of it."""
        memory = AgentMemory(resource, key=key, agent=agent)
        calls: dict[str, Callable[[], Awaitable[object]]] = {
            "append": lambda: memory.append("more"),
            "read": memory.read,
            "write": lambda: memory.write("new"),
            "clear": lambda: memory.clear(confirm=True),
            "flush": lambda: memory.flush(force=True),
            "stats": memory.stats,
        }
        outcomes = []
        for operation in operations:
            try:
                await calls[operation]()
                outcomes.append("done")
            except ActivityError as error:
                cause = error.cause
                outcomes.append(str(cause.type) if isinstance(cause, ApplicationError) else "other")
        return outcomes
