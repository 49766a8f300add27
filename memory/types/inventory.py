"""What listing and purging the memories of a project answer."""

from __future__ import annotations

from dataclasses import dataclass

from durable_memory.memory.types.results import MemoryStats


@dataclass(frozen=True, slots=True)
class ListedMemory:
    """A memory that exists, with its counters as they were when it was listed; stats is None if it is damaged."""

    resource: str
    key: str
    stats: MemoryStats | None


@dataclass(frozen=True, slots=True)
class ListedPage:
    """Some memories, and where the next page begins; cursor is None on the last one. A page may be empty."""

    memories: tuple[ListedMemory, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """How many memories a purge removed, with how many messages; after a dry run, how many it would have removed."""

    memories: int
    messages: int
    dry_run: bool
