"""The sweep: finishes what no running code can, for workflows ended from outside and memories that nobody woke.

It also keeps alive what a workflow owns that goes on, and has not written for long.

Leases and abandoned open groups need no sweep: a lease ends by its own lifetime, and every script takes a group that
was not touched for open_group_ttl as closed.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

from durable_memory.memory import telemetry
from durable_memory.memory.bounded import for_each
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.errors import MemoryFault, MemoryInvalid, MemoryUnknownResource
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.inventory import is_gone
from durable_memory.memory.janitor.chains import Runs, judge
from durable_memory.memory.janitor.settlement import Settlement
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.index_port import Binding
from durable_memory.memory.stores.port import Backend
from durable_memory.memory.stores.values import ReadQuery

_log = logging.getLogger(__name__)
_PAGE: Final = 50
_AT_ONCE: Final = 8
_STAGES: Final = ("owners", "memories")
_UNDECLARED: Final = Limits.unlimited()
"""To ask whether a memory of a resource that is no longer declared is still there."""

ACTIONS: Final = ("released", "cleared", "flushed", "kept", "woken", "forgotten", "unknown", "failed")
"""What a sweep does.

Owners are released. Memories are cleared, flushed or kept at the end of their last owner, woken where a flush is due,
forgotten where they are gone. Of unknown owners it could not be told whether they go on; what failed is tried again by
the next sweep.
"""

COUNTS: Final = ("owners", "living", "memories", *ACTIONS)
"""What a sweep counts: the owners and memories that it looked at, the owners that go on, and its actions."""

_Item = TypeVar("_Item")


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
        self._runs = runs
        self._wake = wake

    async def sweep(self, position: str | None = None, *, seconds: float = 20) -> Swept:
        """Goes through owners, then memories, page by page, for about so many seconds.

        Repeatable, and harmless beside another one. position: where an earlier call stopped. Raises MemoryUnavailable
        if the index does not answer, MemoryInvalid for a position that no sweep gave.
        """
        ends = time.monotonic() + seconds
        counts: Counter[str] = Counter()
        for name, stage, cursor in self._places(position):
            backend = self._client.wiring.backends[name]
            visit = self._visit_owners if stage == "owners" else self._visit_memories
            at: str | None = cursor
            while True:
                at = await visit(backend, at, counts)
                if at is None:
                    break
                if time.monotonic() >= ends:
                    return self._swept(counts, f"{name}/{stage}/{at}")
        return self._swept(counts, None)

    async def settle(self, namespace: str, workflow_id: str) -> bool:
        """Settles what one workflow owned, if it has ended; tells whether it had, or owned nothing.

        What could not be settled then stays owned, for a sweep. Raises MemoryUnavailable if the index does not answer.
        """
        counts: Counter[str] = Counter()
        for backend in self._client.wiring.backends.values():
            owned = list(await backend.index.bindings(self._client.project, namespace, workflow_id))
            if owned:
                # At the time 0 no workflow that Temporal does not know is old enough to have ended.
                await self._visit_owner(backend, owned, 0, counts)
        self._count(counts)
        return not counts["living"] and not counts["unknown"]

    def _places(self, position: str | None) -> list[tuple[str, str, str | None]]:
        """Returns the ways that are left: backend, stage, and where to begin in it."""
        places: list[tuple[str, str]] = list(itertools.product(sorted(self._client.wiring.backends), _STAGES))
        if position is None:
            return [(*place, None) for place in places]
        name, _, rest = position.partition("/")
        stage, _, cursor = rest.partition("/")
        if (name, stage) not in places or not cursor:
            raise MemoryInvalid("position: is not one that a sweep gave")
        first = places.index((name, stage))
        return [(name, stage, cursor), *((*place, None) for place in places[first + 1 :])]

    def _swept(self, counts: Counter[str], position: str | None) -> Swept:
        self._count(counts)
        return Swept({name: counts[name] for name in COUNTS}, position)

    def _count(self, counts: Counter[str]) -> None:
        for action in ACTIONS:
            telemetry.count_janitor(action, counts[action])

    async def _visit_owners(self, backend: Backend, cursor: str | None, counts: Counter[str]) -> str | None:
        page = await backend.index.owners(self._client.project, cursor, _PAGE)
        bindings: dict[tuple[str, str], list[Binding]] = {}
        for binding in page.bindings:
            bindings.setdefault((binding.owner.namespace, binding.owner.workflow_id), []).append(binding)

        async def visit(owned: list[Binding]) -> None:
            await self._visit_owner(backend, owned, page.read_ms, counts)

        await self._each(bindings.values(), visit, counts)
        return page.cursor

    async def _visit_owner(self, backend: Backend, owned: list[Binding], read_ms: int, counts: Counter[str]) -> None:
        counts["owners"] += 1
        verdict = await judge(self._runs, owned, read_ms)
        counts["unknown"] += verdict.unknown
        counts["living"] += not verdict.unknown and any(each.owner.run_id not in verdict.ended for each in owned)
        workflow = (owned[0].owner.namespace, owned[0].owner.workflow_id)
        if verdict.ended:
            settlement = Settlement(self._client, backend, *workflow, verdict.ended)
            settled = await settlement.run()
            counts.update(settled.counts)
            for fault in settled.faults:
                _note_failure(fault, counts)
        if verdict.open_run is not None and any(each.owner.run_id != verdict.open_run for each in owned):
            await backend.index.release_gone(self._client.project, *workflow, verdict.open_run)
        if verdict.open_run is not None and not verdict.unknown:
            living = {each.memory for each in owned if each.owner.run_id not in verdict.ended}
            await self._each(living, partial(self._keep_alive, backend), counts)

    async def _keep_alive(self, backend: Backend, memory: MemoryId) -> None:
        """Lets the lifetime of what a living owner holds begin anew, unless its length is declared.

        The one that comes with the scope is there for what nobody settles. A workflow that waits for days has somebody.
        """
        try:
            declared = self._client.registry.memory(memory.resource)
        except MemoryUnknownResource:
            return
        if declared.ttl is not None and not declared.ttl_is_declared:
            await backend.store.read(memory, ReadQuery(limit=0), replace(declared.limits(), refresh_on_read=True))

    async def _visit_memories(self, backend: Backend, cursor: str | None, counts: Counter[str]) -> str | None:
        page = await backend.index.registered(self._client.project, cursor, _PAGE)

        async def visit(memory: MemoryId) -> None:
            await self._visit_memory(backend, memory, page.read_ms, counts)

        await self._each(page.memories, visit, counts)
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

    async def _each(
        self, items: Iterable[_Item], visit: Callable[[_Item], Awaitable[None]], counts: Counter[str]
    ) -> None:
        """Visits a few at a time; the failure of one does not keep the others from their turn."""

        async def one(item: _Item) -> None:
            try:
                await visit(item)
            except MemoryFault as fault:
                _note_failure(fault, counts)

        await for_each(items, one, at_once=_AT_ONCE)


def _note_failure(fault: MemoryFault, counts: Counter[str]) -> None:
    counts["failed"] += 1
    _log.warning("the janitor could not finish its work on an owner or memory: %s", fault.message)
