"""The sweep: finishes what no running code can, for workflows ended from outside and memories that nobody woke.

It also keeps alive what a workflow owns that goes on, and has not written for long.

Leases and abandoned open groups need no sweep: a lease ends by its own lifetime, and every script takes a group that
was not touched for open_group_ttl as closed.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from durable_memory.memory.client import MemoryClient
from durable_memory.memory.errors import MemoryInvalid, MemoryUnknownResource
from durable_memory.memory.identity import MemoryId, WorkflowId
from durable_memory.memory.inventory import is_gone
from durable_memory.memory.janitor.actions import ACTIONS, report, visit_each
from durable_memory.memory.janitor.chains import Runs
from durable_memory.memory.janitor.owners import Owners
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.index_port import Binding

_PAGE: Final = 50
_STAGES: Final = ("owners", "memories")
_UNDECLARED: Final = Limits.unlimited()
"""To ask whether a memory of a resource that is no longer declared is still there."""

COUNTS: Final = ("owners", "living", "memories", *ACTIONS)
"""What a sweep counts: the owners and memories that it looked at, the owners that go on, and its actions."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What one call of `sweep` did, by the names in COUNTS. position: where the next call goes on; None at the end."""

    counts: Mapping[str, int]
    position: str | None


class Janitor:
    """Sweeps the memories of one project.

    runs: knows the workflows that own them. wake: tells a memory's flusher of due work, or raises MemoryUnavailable.
    """

    def __init__(self, client: MemoryClient, runs: Runs, wake: Callable[[MemoryId], Awaitable[None]]) -> None:
        self._client = client
        self._owners = Owners(client, runs)
        self._wake = wake

    async def sweep(self, position: str | None = None, *, seconds: float = 20) -> Swept:
        """Goes through owners, then memories, page by page, for about so many seconds.

        Repeatable, and harmless beside another one. position: where an earlier call stopped. Raises MemoryUnavailable
        if the index does not answer, MemoryInvalid for a position that no sweep gave.
        """
        ends = time.monotonic() + seconds
        counts: Counter[str] = Counter()
        for name, stage, cursor in self._places(position):
            backend = self._client.parts.backends[name]
            visit = self._visit_owners if stage == "owners" else self._visit_memories
            at: str | None = cursor
            while True:
                at = await visit(backend, at, counts)
                if at is None:
                    break
                if time.monotonic() >= ends:
                    return self._swept(counts, f"{name}/{stage}/{at}")
        return self._swept(counts, None)

    def _places(self, position: str | None) -> list[tuple[str, str, str | None]]:
        """Returns the ways that are left: backend, stage, and where to begin in it."""
        places: list[tuple[str, str]] = list(itertools.product(sorted(self._client.parts.backends), _STAGES))
        if position is None:
            return [(*place, None) for place in places]
        name, _, rest = position.partition("/")
        stage, _, cursor = rest.partition("/")
        if (name, stage) not in places or not cursor:
            raise MemoryInvalid("position: is not one that a sweep gave")
        first = places.index((name, stage))
        return [(name, stage, cursor), *((*place, None) for place in places[first + 1 :])]

    def _swept(self, counts: Counter[str], position: str | None) -> Swept:
        report(counts)
        return Swept({name: counts[name] for name in COUNTS}, position)

    async def _visit_owners(self, backend: Backend, cursor: str | None, counts: Counter[str]) -> str | None:
        page = await backend.index.owners(self._client.project, cursor, _PAGE)
        bindings: dict[WorkflowId, list[Binding]] = {}
        for binding in page.bindings:
            bindings.setdefault(binding.owner.workflow, []).append(binding)

        async def visit(owned: list[Binding]) -> None:
            await self._owners.visit(backend, owned, page.read_ms, counts)

        await visit_each(bindings.values(), visit, counts)
        return page.cursor

    async def _visit_memories(self, backend: Backend, cursor: str | None, counts: Counter[str]) -> str | None:
        page = await backend.index.registered(self._client.project, cursor, _PAGE)

        async def visit(memory: MemoryId) -> None:
            await self._visit_memory(backend, memory, page.read_ms, counts)

        await visit_each(page.memories, visit, counts)
        return page.cursor

    async def _visit_memory(self, backend: Backend, memory: MemoryId, read_ms: int, counts: Counter[str]) -> None:
        counts["memories"] += 1
        try:
            limits, declared = self._client.registry.memory(memory.resource).limits(), True
        except MemoryUnknownResource:
            limits, declared = _UNDECLARED, False
        stats = await backend.store.stats(memory, limits)
        if is_gone(stats):
            forgotten = await backend.index.forget(memory, read_ms)
            counts["forgotten"] += forgotten
        elif not declared:
            return  # whatever waits there is due by any limits, and no flusher could serve it
        elif stats.flush_due and stats.flushing_owner is None and stats.flush_blocked is None:
            await self._wake(memory)
            counts["woken"] += 1
