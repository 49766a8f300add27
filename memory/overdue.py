"""Finds the memories whose flush is overdue: something that should summarise them does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from durable_memory.memory.bounded import for_each
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import MemoryContractTooNew, MemoryDamaged, MemoryUnknownResource
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.operations.health import overdue
from durable_memory.memory.stores.backend import Backend

_PAGE: Final = 100
_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class OverduePage:
    """The memories with an overdue flush among a hundred. cursor: where the next page begins, None after the last."""

    memories: Sequence[MemoryId]
    cursor: str | None


async def overdue_memories(backend: Backend, project: str, registry: Registry, cursor: str | None) -> OverduePage:
    """Looks at the next hundred memories of a project. Raises MemoryFault."""
    page = await backend.index.registered(project, cursor, _PAGE)
    # By the clock that notes since when flushes are due: that of this machine may be hours off.
    now = datetime.fromtimestamp(page.read_ms / 1000, UTC)
    late = await for_each(page.memories, lambda one: _is_overdue(backend, one, registry, now), at_once=_AT_ONCE)
    return OverduePage([memory for memory, is_late in zip(page.memories, late, strict=True) if is_late], page.cursor)


async def _is_overdue(backend: Backend, memory: MemoryId, registry: Registry, now: datetime) -> bool:
    try:
        limits = registry.memory(memory.resource).limits()
    except MemoryUnknownResource:
        return False  # nobody flushes what is not declared
    try:
        stats = await backend.store.stats(memory, limits)
    except (MemoryDamaged, MemoryContractTooNew):
        return False  # has its own trouble, and must not keep those behind it from being looked at
    return overdue(stats, now)
