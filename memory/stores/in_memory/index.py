"""The project index of one process: which memories exist, and which workflows own them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import islice
from typing import TypeAlias

from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.stores.port import MemoryPage, ProjectIndex

_Chain: TypeAlias = tuple[str, str]
"""An owner without its run: namespace and workflow id."""


class InMemoryProjectIndex(ProjectIndex):
    """Keeps the index in this process. See ProjectIndex for the methods."""

    def __init__(self) -> None:
        self._registered: dict[MemoryId, None] = {}
        # The run seen last, or None once the owner is ending.
        self._owners: dict[MemoryId, dict[_Chain, str | None]] = defaultdict(dict)
        self._owned: dict[tuple[str, _Chain], set[MemoryId]] = defaultdict(set)

    async def register(self, memory: MemoryId, owner: Owner | None) -> None:
        """See ProjectIndex."""
        self._registered.pop(memory, None)
        self._registered[memory] = None
        if owner is not None:
            chain = (owner.namespace, owner.workflow_id)
            self._owners[memory][chain] = owner.run_id
            self._owned[memory.project, chain].add(memory)

    async def ending(self, project: str, namespace: str, workflow_id: str) -> Mapping[MemoryId, bool]:
        """See ProjectIndex."""
        chain = (namespace, workflow_id)
        owned = sorted(self._owned.get((project, chain), ()))
        for memory in owned:
            self._owners[memory][chain] = None
        return {memory: not any(self._owners[memory].values()) for memory in owned}

    async def release(self, project: str, namespace: str, workflow_id: str) -> None:
        """See ProjectIndex."""
        chain = (namespace, workflow_id)
        for memory in self._owned.pop((project, chain), ()):
            del self._owners[memory][chain]
            if not self._owners[memory]:
                del self._owners[memory]

    async def memories(self, project: str, resource: str, cursor: str | None, count: int) -> MemoryPage:
        """See ProjectIndex. In the order of keys, so that what is registered meanwhile shifts no page."""
        found = sorted(
            memory
            for memory in self._registered
            if (memory.project, memory.resource) == (project, resource) and (cursor is None or memory.key > cursor)
        )
        page = tuple(found[:count])
        return MemoryPage(page, page[-1].key if len(found) > count else None)

    async def due_candidates(self, project: str, count: int) -> tuple[MemoryId, ...]:
        """See ProjectIndex."""
        return tuple(islice((memory for memory in self._registered if memory.project == project), count))

    async def forget(self, memory: MemoryId) -> None:
        """See ProjectIndex."""
        self._registered.pop(memory, None)
