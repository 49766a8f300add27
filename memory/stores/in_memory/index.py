"""The project index of one process: which memories exist, and which workflows own them."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from durable_memory.memory.clock import Clock
from durable_memory.memory.identity import MemoryId, Owner, WorkflowId
from durable_memory.memory.keys.prefix import has_prefix
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.index_port import BOUND_RUNS, OUTLIVES, Binding, MemoryPage, OwnerPage

_ENDLESS: Final = OUTLIVES.workflow


@dataclass(slots=True)
class _Registered:
    """number: its place among all, by when it was registered first. seen_ms: when it was registered last."""

    number: int
    seen_ms: int


@dataclass(slots=True)
class _Bond:
    """An owner of a memory. runs: when each was bound. ending: it has ended, or is about to."""

    runs: dict[str, int] = field(default_factory=dict)
    ending: bool = False


class InMemoryProjectIndex:
    """The ProjectIndex port in this process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._numbers = itertools.count(1)
        self._registered: dict[MemoryId, _Registered] = {}
        self._owners: defaultdict[MemoryId, dict[WorkflowId, _Bond]] = defaultdict(dict)
        self._owned: defaultdict[str, defaultdict[WorkflowId, set[MemoryId]]] = defaultdict(lambda: defaultdict(set))

    @property
    def generation(self) -> int:
        """See ProjectIndex. This process cannot lose a part of what it keeps."""
        return 0

    async def register(self, memory: MemoryId, owner: Owner | None) -> None:
        """See ProjectIndex."""
        now = self._clock.now_ms()
        known = self._registered.get(memory)
        self._registered[memory] = _Registered(known.number if known else next(self._numbers), now)
        if owner == OUTLIVES:
            self._owners[memory][_ENDLESS] = _Bond()
        elif owner is not None:
            workflow = owner.workflow
            bond = self._owners[memory].setdefault(workflow, _Bond())
            bond.runs[owner.run_id], bond.ending = now, False
            if len(bond.runs) > BOUND_RUNS:
                del bond.runs[min(bond.runs, key=bond.runs.__getitem__)]
            self._owned[memory.project][workflow].add(memory)

    async def ending(self, project: str, workflow: WorkflowId, runs: Collection[str]) -> Mapping[MemoryId, bool]:
        """See ProjectIndex."""
        ending = {
            memory: self._owners[memory]
            for memory in sorted(self._owned[project].get(workflow, ()))
            if self._owners[memory][workflow].runs.keys() <= set(runs)
        }
        for owners in ending.values():
            owners[workflow].ending = True
        return {memory: all(bond.ending for bond in owners.values()) for memory, owners in ending.items()}

    async def release(self, project: str, workflow: WorkflowId, memories: Collection[MemoryId]) -> None:
        """See ProjectIndex."""
        for memory in self._owned[project].get(workflow, set()).intersection(memories):
            if self._owners[memory][workflow].ending:
                self._unbind(memory, workflow)

    async def release_gone(self, project: str, workflow: WorkflowId, open_run: str) -> None:
        """See ProjectIndex."""
        for memory in tuple(self._owned[project].get(workflow, ())):
            if memory not in self._registered and open_run not in self._owners[memory][workflow].runs:
                self._unbind(memory, workflow)

    async def owners(self, project: str, cursor: str | None, count: int) -> OwnerPage:
        """See ProjectIndex."""
        after = WorkflowId("", "") if cursor is None else _read_workflow(cursor)
        workflows = sorted(workflow for workflow in self._owned[project] if workflow > after)
        page = workflows[:count]
        return OwnerPage(
            tuple(binding for workflow in page for binding in self._bindings(project, workflow)),
            json.dumps([page[-1].namespace, page[-1].id]) if len(workflows) > count else None,
            self._clock.now_ms(),
        )

    async def bindings(self, project: str, workflow: WorkflowId) -> tuple[Binding, ...]:
        """See ProjectIndex."""
        return self._bindings(project, workflow)

    async def memories(
        self, project: str, resource: str, cursor: str | None, count: int, prefix: str = ""
    ) -> MemoryPage:
        """See ProjectIndex. The order of code points is that of UTF-8 bytes."""
        after = None if cursor is None else _read_key(cursor)
        found = sorted(
            memory
            for memory in self._registered
            if (memory.project, memory.resource) == (project, resource)
            and (after is None or memory.key > after)
            and has_prefix(memory.key, prefix)
        )
        page = tuple(found[:count])
        following = json.dumps(page[-1].key) if len(found) > count else None
        return MemoryPage(page, following, self._clock.now_ms())

    async def resources(self, project: str) -> tuple[str, ...]:
        """See ProjectIndex."""
        return tuple(sorted({memory.resource for memory in self._registered if memory.project == project}))

    async def registered(self, project: str, cursor: str | None, count: int) -> MemoryPage:
        """See ProjectIndex."""
        after = 0 if cursor is None else _read_number(cursor)
        found = sorted(
            (registered.number, memory)
            for memory, registered in self._registered.items()
            if memory.project == project and registered.number > after
        )
        page = found[:count]
        return MemoryPage(
            tuple(memory for _, memory in page),
            json.dumps(page[-1][0]) if page and len(found) > count else None,
            self._clock.now_ms(),
        )

    async def forget(self, memory: MemoryId, as_of_ms: int) -> bool:
        """See ProjectIndex."""
        registered = self._registered.get(memory)
        if registered is not None and registered.seen_ms >= as_of_ms:
            return False
        if _ENDLESS in self._owners.get(memory, ()):
            self._drop(memory, _ENDLESS)
        return self._registered.pop(memory, None) is not None

    def _bindings(self, project: str, workflow: WorkflowId) -> tuple[Binding, ...]:
        return tuple(
            Binding(memory, Owner(workflow.namespace, workflow.id, run_id), bound_ms)
            for memory in sorted(self._owned[project].get(workflow, ()))
            for run_id, bound_ms in self._owners[memory][workflow].runs.items()
        )

    def _drop(self, memory: MemoryId, workflow: WorkflowId) -> None:
        del self._owners[memory][workflow]
        if not self._owners[memory]:
            del self._owners[memory]

    def _unbind(self, memory: MemoryId, workflow: WorkflowId) -> None:
        self._drop(memory, workflow)
        owned = self._owned[memory.project]
        owned[workflow].discard(memory)
        if not owned[workflow]:
            del owned[workflow]


def _read_workflow(cursor: str) -> WorkflowId:
    match _loaded(cursor):
        case [str(namespace), str(workflow_id)]:
            return WorkflowId(namespace, workflow_id)
        case _:
            raise refusals.cursor_unknown()


def _read_key(cursor: str) -> str:
    match _loaded(cursor):
        case str(key):
            return key
        case _:
            raise refusals.cursor_unknown()


def _read_number(cursor: str) -> int:
    match _loaded(cursor):
        case int(number) if number > 0 and number is not True:
            return number
        case _:
            raise refusals.cursor_unknown()


def _loaded(cursor: str) -> object:
    try:
        return json.loads(cursor)
    except (ValueError, RecursionError):
        raise refusals.cursor_unknown() from None
