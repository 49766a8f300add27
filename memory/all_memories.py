"""The operations on all memories of a project at once: list, purge, export, import."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Collection, Iterable
from dataclasses import replace

from durable_memory.memory.access import Access
from durable_memory.memory.arguments import one_of, truth, whole_number
from durable_memory.memory.caller import Caller
from durable_memory.memory.client_parts import ClientParts
from durable_memory.memory.declarations.declaration import is_id
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.declarations.scopes import SCOPES, Scope
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.inventory import MAX_PAGE, Inventory, Place
from durable_memory.memory.keys.prefix import checked_prefix
from durable_memory.memory.keys.rule import checked_key
from durable_memory.memory.limits import Limits
from durable_memory.memory.memory import Memory
from durable_memory.memory.operations.audit import AuditedCall
from durable_memory.memory.operations.services import Services
from durable_memory.memory.resolution import Resolved
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.transfer.export import export_lines
from durable_memory.memory.transfer.importing import Import, checked_lines, first_line
from durable_memory.memory.types import ImportResult, ListedPage, PurgeResult


class AllMemories:
    """What a client can do with the memories of its project, however many they are. MemoryClient is one."""

    def __init__(self, parts: ClientParts, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    def at(self, memory: MemoryId) -> Memory:
        """Returns a handle for the operator on a memory whose identity is known, e.g. from a listing.

        Neither modes nor `agents_only` limit it. Raises MemoryUnknownResource if its resource is no longer declared,
        MemoryKeyInvalid, MemoryInvalid.
        """
        if not isinstance(memory, MemoryId):
            raise MemoryInvalid(f"memory: must be a MemoryId, as list_memories gives it, not {type(memory).__name__}")
        if not is_id(memory.project):
            raise MemoryInvalid("memory: its project is no id of a project; list_memories gives a whole MemoryId")
        declared = self._parts.registry.memory(memory.resource)
        known = replace(memory, key=checked_key(memory.key, declared.id))
        return Memory(self._parts.services(declared), Resolved(declared, known, Access()), self._caller)

    async def list_memories(
        self, resource: str | None = None, *, scope: Scope | None = None, prefix: str = ""
    ) -> AsyncIterator[MemoryId]:
        """Goes through the memories that exist, each once, by resource and key; loads no message.

        resource: only its memories; it may be one that is no longer declared. Without it, those of such resources are
        found as well. scope: only of resources that are declared with this scope. prefix: only keys that begin with
        these whole segments, which `:` and `/` end: `user:al` is no prefix of `user:alice`. Raises
        MemoryUnknownResource for a resource that is neither declared nor has memories.
        """
        inventory = await self._inventory(resource, scope, prefix)
        async for listed in inventory.all():
            yield MemoryId(self._parts.project, listed.resource, listed.key)

    async def list_page(
        self,
        resource: str | None = None,
        *,
        scope: Scope | None = None,
        prefix: str = "",
        cursor: str | None = None,
        limit: int = 100,
    ) -> ListedPage:
        """Returns a page of the same with their counters. cursor: of the page before. limit: 1 to 1,000."""
        if whole_number("limit", limit) not in range(1, MAX_PAGE + 1):
            raise MemoryInvalid(f"limit: must be from 1 to {MAX_PAGE:,}")
        inventory = await self._inventory(resource, scope, prefix)
        return await inventory.page(cursor, limit)

    async def purge(
        self,
        resource: str | None = None,
        *,
        scope: Scope | None = None,
        prefix: str = "",
        dry_run: bool = True,
        confirm: bool | Callable[[PurgeResult], bool] = False,
    ) -> PurgeResult:
        """Erases all memories of a resource, of a scope, or with a prefix; see `list_memories` for what these mean.

        Their backups go as well, also those of a memory that was cleared or has expired. A memory that is created after
        the purge began stays. dry_run: only count what would be removed, which is the default; the real purge takes
        `dry_run=False, confirm=True`. confirm may be a function, no async one: it gets the counts and returns True to
        go on, else they are the answer. Raises MemoryInvalid without it, or if nothing says which;
        MemoryContractTooNew, at its end, if memories that a newer version wrote had to stay.
        """
        truth("dry_run", dry_run)
        with AuditedCall("purge", self._caller, project=self._parts.project) as record:
            if dry_run:
                record.skip()
            if resource is None and scope is None and not prefix:
                raise MemoryInvalid(
                    "purge: name a resource, a scope or a key prefix; there is no purge of a whole project"
                )
            if not dry_run and confirm is not True and not callable(confirm):
                raise MemoryInvalid("confirm: purge removes these memories for good; pass confirm=True to do it")
            inventory = await self._inventory(resource, scope, prefix)
            began = await inventory.moments()
            if dry_run:
                return (await inventory.purge(began, None)).whole()
            if callable(confirm):
                record.skip()  # until it has said yes
                found = await inventory.purge(began, None)
                if not found.counts.memories and not found.counts.backups:
                    return found.whole()
                if confirm(found.counts) is not True:
                    return found.counts
            record.begun(resource=resource, scope=scope, by_prefix=bool(prefix))
            result = (await inventory.purge(began, self._caller)).whole()
            record.done(removed=result.messages, memories=result.memories, backups=result.backups)
            return result

    async def export_messages(self, resource: str, *, key: str | None = None, prefix: str = "") -> AsyncIterator[str]:
        """Yields all that the memories of a resource hold as JSON lines, a page at a time: see docs/transfer.md.

        resource: it may be one that is no longer declared. key: only this memory. prefix: only keys with these whole
        segments. Raises MemoryConflict if a memory is cleared while it is written.
        """
        wanted = None if key is None else checked_key(key, resource)
        inventory = await self._inventory(resource, None, prefix if wanted is None else wanted)
        async for line in export_lines(resource, inventory, wanted, self._parts.clock):
            yield line

    async def import_messages(
        self,
        lines: Iterable[str | bytes] | AsyncIterable[str | bytes],
        *,
        resource: str | None = None,
        key: str | None = None,
        merge: bool = False,
        on_line: Callable[[int], None] | None = None,
    ) -> ImportResult:
        """Appends the messages of an export, in whole groups, each checked as in any other append.

        Started again with the same lines within 24 hours, it appends nothing twice. resource: instead of the one that
        was exported. key: one memory for all lines, instead of each line's own; lines of several memories are refused
        unless `merge` lets them become one. on_line: is told the length of each line, for progress. A line that cannot
        be appended is in the result, and the others go on. Raises MemoryInvalid for lines without a header, or at the
        first line of a second memory under one key, MemoryKeyInvalid, MemoryUnknownResource, and MemoryUnavailable:
        start it again then.
        """
        if on_line is not None and not callable(on_line):
            raise MemoryInvalid(f"on_line: must be a function of the length of a line, not {type(on_line).__name__}")
        truth("merge", merge)
        if merge and key is None:
            raise MemoryInvalid("merge: without a key each line goes under its own; name the one memory by its key")
        source = checked_lines(lines, on_line)
        header = await first_line(source)
        declared = self._parts.registry.memory(header.resource if resource is None else resource)
        one_key = None if key is None else checked_key(key, declared.id)

        def opened(own: str) -> Memory:
            return self.at(MemoryId(self._parts.project, declared.id, own))

        return await Import(opened, one_key, merge=merge).run(header, source)

    async def _inventory(self, resource: str | None, scope: Scope | None, prefix: str) -> Inventory:
        if scope is not None:
            one_of("scope", scope, SCOPES)
        declared = [each for each in self._parts.registry.memories() if resource in (None, each.id)]
        places = [_place(each, self._parts.services(each)) for each in declared if scope in (None, each.scope)]
        if resource is not None and not declared:
            places = [await self._undeclared(resource, scope)]
        elif resource is None and scope is None:
            places += await self._all_undeclared({each.id for each in declared})
        in_order = sorted(places, key=lambda place: place.resource)
        return Inventory(self._parts.project, in_order, checked_prefix(prefix))

    async def _all_undeclared(self, declared: Collection[str]) -> list[Place]:
        """Returns where the memories of all resources are whose definition is gone; their scope is unknown."""
        found: dict[str, Place] = {}
        for backend in self._parts.backends.values():
            for resource in await backend.index.resources(self._parts.project):
                if resource not in declared:
                    found.setdefault(resource, _undeclared_place(resource, backend))
        return list(found.values())

    async def _undeclared(self, resource: str, scope: Scope | None) -> Place:
        """Returns where the memories of a resource are whose definition is gone; it is unknown if there are none."""
        # What is no id was never declared, and cannot be looked for.
        for backend in self._parts.backends.values() if is_id(resource) else ():
            if (await backend.index.memories(self._parts.project, resource, None, 1)).memories:
                if scope is not None:
                    raise MemoryInvalid(f"scope: {resource!r} is no longer declared and has none; leave it out")
                return _undeclared_place(resource, backend)
        self._parts.registry.memory(resource)  # says what is declared
        raise AssertionError("the resource is not declared")  # pragma: no cover


def _place(resource: MemoryResource, services: Services) -> Place:
    return Place(resource.id, services.store, services.index, resource.limits())


def _undeclared_place(resource: str, backend: Backend) -> Place:
    return Place(resource, backend.store, backend.index, Limits.unlimited())
