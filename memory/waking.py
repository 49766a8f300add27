"""The port to whatever runs background flushes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from durable_memory.memory.identity import MemoryId


class FlushWaker(Protocol):
    """Wakes the flusher of a memory."""

    async def wake(self, memory: MemoryId, *, force: bool = False) -> None:
        """Returns once the flusher is sure to look at this memory again, from a moment after this call.

        force: it also flushes below the threshold. Raises MemoryUnavailable if it could not be told.
        """
        ...


@dataclass(frozen=True, slots=True)
class RetriedFlush:
    """A background flush of which an attempt failed, and that goes on.

    step: which of its steps is repeated: `begin`, `summarize` or `commit`. failures: how many attempts at it failed.
    error_type: the type of the last one's error. failed_at: when that was; None if it timed out. since: since when the
    flusher is at work.
    """

    step: str
    failures: int
    error_type: str
    failed_at: datetime | None
    since: datetime


@runtime_checkable
class FlushReporter(Protocol):
    """What a waker may be besides: it knows how the background flush of a memory fares."""

    async def retried(self, memory: MemoryId) -> RetriedFlush | None:
        """Returns the flush of this memory that is being retried; None if there is none, or it cannot be asked."""
        ...


@runtime_checkable
class QueueReporter(Protocol):
    """What a waker may be as well: it knows whether anybody takes up the flushes of a project."""

    async def unpolled(self, project: str) -> str | None:
        """Returns the name of their queue if no worker polls it; None if one does, or nobody can be asked."""
        ...


class NoWaker:
    """For processes without Temporal: the memory stays due until a writer with a waker, or the janitor, sees it."""

    async def wake(self, memory: MemoryId, *, force: bool = False) -> None:
        """Does nothing; see FlushWaker."""
