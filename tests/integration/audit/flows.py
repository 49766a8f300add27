"""Workflows that remove what is stored, through the handle and through an activity of the user."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

from durable_memory import AgentMemory, MemoryRef


@workflow.defn
class Remove:
    """Calls the handle."""

    @workflow.run
    async def run(self, resource: str, key: str, operations: list[str]) -> None:
        """Calls these operations, one after the other."""
        memory = AgentMemory(resource, key=key)
        first = await memory.append("Stored.")
        backup = ""

        async def clear() -> None:
            nonlocal backup
            backup = str((await memory.clear(confirm=True, backup=True)).backup_id)

        calls: dict[str, Callable[[], Awaitable[object]]] = {
            "write": lambda: memory.write("New."),
            "delete": lambda: memory.delete(first.ids),
            "clear": clear,
            "restore": lambda: memory.restore(backup),
            "flush": lambda: memory.flush(force=True),
            "flush in the background": lambda: memory.flush(force=True, wait=False),
            "read": memory.read,
        }
        for operation in operations:
            await calls[operation]()


@workflow.defn
class RemoveAgain:
    """Removes in an activity whose first attempt ends behind the last call."""

    @workflow.run
    async def run(self, ref: MemoryRef, activity_id: str | None) -> None:
        """See class."""
        await workflow.execute_activity(
            "remove_and_break",
            ref,
            activity_id=activity_id,
            start_to_close_timeout=timedelta(seconds=10),
            retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=10)),
        )
