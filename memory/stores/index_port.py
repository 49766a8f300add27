"""The index port: what a driver must know of a project across its memories. The store port holds the memories."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from durable_memory.memory.identity import MemoryId, Owner, WorkflowId

BOUND_RUNS: Final = 8
"""Of an owner's runs, those seen last stay bound: a straggler of an ended run must not hide the one that took over."""

OUTLIVES: Final = Owner("", "", "")
"""Stands for the owners of a memory that outlives them all: it never ends, and no other is then the last one.

Otherwise a declaration that gives a memory owners would let the first of them end what older ones still use, since
those were never bound.
"""


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """A page of a project's memories; cursor is None on the last page.

    read_ms: when it was read, by the index's clock.
    """

    memories: tuple[MemoryId, ...]
    cursor: str | None
    read_ms: int


@dataclass(frozen=True, slots=True)
class Binding:
    """That a run of a workflow, owner.run_id, wrote to a memory. bound_ms: when that was noted last."""

    memory: MemoryId
    owner: Owner
    bound_ms: int


@dataclass(frozen=True, slots=True)
class OwnerPage:
    """The bindings of some owners; all of an owner stand on one page.

    cursor is None on the last page; a page without bindings may have a next one. read_ms: when it was read, by the
    index's clock.
    """

    bindings: tuple[Binding, ...]
    cursor: str | None
    read_ms: int


class ProjectIndex(Protocol):
    """What a project knows across its memories: which exist, and who owns them.

    An owner counts by its namespace and workflow id. Of its runs that wrote to a memory, the last ones stay bound: they
    may be of one chain, or of several that followed each other.
    """

    @property
    def generation(self) -> int:
        """Changes when the index may have lost what it was told last, as a server has that took over from another."""
        ...

    async def register(self, memory: MemoryId, owner: Owner | None) -> None:
        """Notes that this memory is written to, by this owner; OUTLIVES stays bound until `forget` removes the memory.

        Called before the first append of a pair in each generation, and again whenever a memory is born.
        """
        ...

    async def ending(self, project: str, workflow: WorkflowId, runs: Collection[str]) -> Mapping[MemoryId, bool]:
        """Notes that these runs of a workflow have ended, and returns what is bound to no other run of it.

        Each memory with whether no other owner goes on. Of workflows that end at the same time, the last one to ask is
        told so: asking and releasing alone would let each leave the memory to the others. Repeatable; a later
        `register` takes the note back.
        """
        ...

    async def release(self, project: str, workflow: WorkflowId, memories: Collection[MemoryId]) -> None:
        """Forgets this workflow as an owner of these memories, as far as they are noted as ending.

        What was registered since `ending` stays bound. memories: those that are settled; a memory that stays bound is
        settled again.
        """
        ...

    async def release_gone(self, project: str, workflow: WorkflowId, open_run: str) -> None:
        """Forgets this workflow as an owner of memories that `forget` removed, unless the open run is bound to them.

        open_run: the one run of this id that goes on. It registers what it writes to before its first append, so that
        what earlier runs of its chain were bound to is needed no more. Otherwise a workflow that continues as new for
        years would stay bound to all that it ever wrote to.
        """
        ...

    async def owners(self, project: str, cursor: str | None, count: int) -> OwnerPage:
        """Lists the owners of a project, about `count` a page.

        Each that is there during all pages comes at least once. Raises MemoryInvalid for a cursor that no page gave.
        """
        ...

    async def bindings(self, project: str, workflow: WorkflowId) -> tuple[Binding, ...]:
        """Returns what is bound to one owner."""
        ...

    async def memories(
        self, project: str, resource: str, cursor: str | None, count: int, prefix: str = ""
    ) -> MemoryPage:
        """Lists registered memories of a resource whose keys have a prefix, in the order of their keys' UTF-8 bytes.

        Pages show each that is there all the time once, whatever is registered meanwhile. A memory that has expired may
        still be listed; `forget` removes it. Raises MemoryInvalid for a cursor that no page gave.
        """
        ...

    async def resources(self, project: str) -> tuple[str, ...]:
        """Returns the ids of the resources that have registered memories, in their order.

        `forget` of its last memory removes a resource.
        """
        ...

    async def registered(self, project: str, cursor: str | None, count: int) -> MemoryPage:
        """Lists the memories of all resources, those registered longest ago first: a sweep asks each what it needs.

        Raises MemoryInvalid for a cursor that no page gave.
        """
        ...

    async def forget(self, memory: MemoryId, as_of_ms: int) -> bool:
        """Removes a memory that is gone from all lists; tells whether it did.

        It does not if the memory was registered at `as_of_ms` or later. as_of_ms: `read_ms` of a page that was read
        before the memory was looked at, so that one that is born meanwhile stays. Owners stay bound until they end
        or `release_gone`: a run that goes on may write to the memory when another has made it anew.
        """
        ...
