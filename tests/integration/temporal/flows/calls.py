"""Workflows that make one kind of call, and return what was answered."""

from __future__ import annotations

from typing import Any

from temporalio import workflow

from durable_memory import AgentMemory, MemoryRef


@workflow.defn
class LeaveFlush:
    """Leaves a flush to the background and returns what it was told."""

    @workflow.run
    async def run(self, resource: str, key: str) -> str:
        """See class."""
        return (await AgentMemory(resource, key=key).flush(force=True, wait=False)).outcome


@workflow.defn
class Append:
    """Appends through a handle that is made of a reference; returns the view."""

    @workflow.run
    async def run(self, memory: MemoryRef, message: str) -> list[dict[str, Any]]:
        """See class."""
        handle = AgentMemory(memory)
        await handle.append(message)
        view = await handle.read()
        return [dict(entry.to_dict()) for entry in view.messages]


@workflow.defn
class AppendMany:
    """Appends texts one by one, each to a random memory of a resource."""

    @workflow.run
    async def run(self, resource: str, keys: list[str], texts: list[str]) -> None:
        """See class."""
        for text in texts:
            await AgentMemory(resource, workflow.random().choice(keys)).append(text)


@workflow.defn
class Write:
    """Replaces a memory if it has a version."""

    @workflow.run
    async def run(self, key: str, text: str, if_version: str) -> None:
        """See class."""
        await AgentMemory("chat", key=key).write(text, if_version=if_version)


@workflow.defn
class WriteBack:
    """Summarises a memory and writes back what it then shows; returns the roles of the messages that stand."""

    @workflow.run
    async def run(self, resource: str, key: str) -> list[str]:
        """See class."""
        memory = AgentMemory(resource, key=key)
        await memory.flush(force=True)
        view = await memory.read()
        await memory.write(view.messages, if_version=view.version)
        return [message.role for message in (await memory.read()).messages]


@workflow.defn
class Flush:
    """Flushes a memory and returns the outcome."""

    @workflow.run
    async def run(self, resource: str, key: str) -> str:
        """See class."""
        return (await AgentMemory(resource, key=key).flush(force=True)).outcome


@workflow.defn
class Read:
    """Reads a view into the workflow."""

    @workflow.run
    async def run(self, resource: str, key: str) -> int:
        """See class."""
        return len((await AgentMemory(resource, key=key).read()).messages)


CALLS: tuple[type, ...] = (LeaveFlush, Append, AppendMany, Write, WriteBack, Flush, Read)
