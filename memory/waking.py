"""The port to whatever runs background flushes."""

from __future__ import annotations

from typing import Protocol

from durable_memory.memory.identity import MemoryId


class FlushWaker(Protocol):
    """Wakes the flusher of a memory."""

    async def wake(self, memory: MemoryId, *, force: bool = False) -> None:
        """Returns once the flusher is sure to look at this memory again, from a moment after this call.

        force: it also flushes below the threshold. Raises MemoryUnavailable if it could not be told.
        """
        ...


class NoWaker:
    """For processes without Temporal: the memory stays due until a writer with a waker, or the janitor, sees it."""

    async def wake(self, memory: MemoryId, *, force: bool = False) -> None:
        """Does nothing; see FlushWaker."""
