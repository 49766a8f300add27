"""Which memories a project has: listed by resource, scope and key prefix, and purged; no message is ever loaded.

Also of a resource that is no longer declared: its definition may be deleted, its data is still there.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from durable_memory.memory import telemetry
from durable_memory.memory.bounded import for_each
from durable_memory.memory.caller import Caller
from durable_memory.memory.errors import MemoryContractTooNew, MemoryDamaged
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.operations.audit import AuditedCall
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.index_port import MemoryPage, ProjectIndex
from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.values import Erased
from durable_memory.memory.types import ListedMemory, ListedPage, MemoryStats, PurgeResult

MAX_PAGE: Final = 1_000
_PAGE: Final = 200
_READS: Final = 100
"""Reads of the index that one page takes at most."""
_AT_ONCE: Final = 16


@dataclass(frozen=True, slots=True)
class Place:
    """Where the memories of one resource are."""

    resource: str
    store: Store
    index: ProjectIndex
    limits: Limits


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge removed, or would remove, and why memories that a newer version wrote stay."""

    counts: PurgeResult
    newer: Sequence[MemoryContractTooNew]

    def whole(self) -> PurgeResult:
        """Returns the counts. Raises MemoryContractTooNew, which says them too, if memories had to stay."""
        if self.newer:
            memories = self.counts.memories
            done = f"{memories} could be removed" if self.counts.dry_run else f"{memories} were removed"
            raise self.newer[0].saying(
                f"such memories: {len(self.newer)}, which a worker of that version removes; {done}"
            )
        return self.counts


class Inventory:
    """The memories of some resources whose keys have a prefix. places: in the order of their resources' ids."""

    def __init__(self, project: str, places: Sequence[Place], prefix: str) -> None:
        self._project = project
        self._places = places
        self._prefix = prefix

    async def page(self, cursor: str | None, limit: int) -> ListedPage:
        """Returns the next memories that exist, at most `limit`, one resource after the other.

        A page that is not the last one may have fewer, even none: where much of what the index names has expired, it
        ends after a bounded number of reads.
        """
        left, inner = self._from(cursor)
        found: list[ListedMemory] = []
        for _ in range(_READS):
            if not left or len(found) == limit:
                break
            place = left[0]
            page = await place.index.memories(self._project, place.resource, inner, limit - len(found), self._prefix)
            found += await _existing(place, page)
            inner = page.cursor
            if inner is None:
                left = left[1:]
        return ListedPage(tuple(found), _cursor(left[0].resource, inner) if left else None)

    async def all(self) -> AsyncIterator[ListedMemory]:
        """Goes through all memories that exist."""
        cursor: str | None = None
        while True:
            page = await self.page(cursor, _PAGE)
            for listed in page.memories:
                yield listed
            if page.cursor is None:
                return
            cursor = page.cursor

    async def memories(self) -> AsyncIterator[tuple[Place, MemoryId]]:
        """Goes through all registered memories, each with its place; one that has expired may be among them."""
        for place in self._places:
            async for page in self._pages(place):
                for memory in page.memories:
                    yield place, memory

    async def moments(self) -> Sequence[int]:
        """Returns what time it is at each place, by the clock of its store: a purge leaves what is created afterwards.

        All are asked before anything is erased, since the last resource is reached much later.
        """
        return [await self._now_ms(place) for place in self._places]

    async def purge(self, began: Sequence[int], caller: Caller | None) -> Purged:
        """Erases all memories that existed when it began, with their backups; without a caller it counts them.

        A memory that is created anew meanwhile stays. A memory that has expired is visited for its backups. began: the
        `moments` at which it did. caller: recorded in the audit as who did it.
        """
        memories = messages = backups = 0
        newer: list[MemoryContractTooNew] = []
        for place, began_ms in zip(self._places, began, strict=True):
            async for page in self._pages(place):
                for erased in await self._purge_page(place, page, began_ms, caller):
                    if isinstance(erased, MemoryContractTooNew):
                        newer.append(erased)
                        continue
                    memories, messages = memories + erased.existed, messages + erased.messages
                    backups += erased.backups
        counts = PurgeResult(memories=memories, messages=messages, dry_run=caller is None, backups=backups)
        return Purged(counts, newer)

    async def _pages(self, place: Place) -> AsyncIterator[MemoryPage]:
        """Goes through the registered memories of one place, page by page, as its index lists them."""
        cursor: str | None = None
        while True:
            page = await place.index.memories(self._project, place.resource, cursor, _PAGE, self._prefix)
            yield page
            if page.cursor is None:
                return
            cursor = page.cursor

    async def _now_ms(self, place: Place) -> int:
        return (await place.index.memories(self._project, place.resource, None, 1)).read_ms

    async def _purge_page(
        self, place: Place, page: MemoryPage, began_ms: int, caller: Caller | None
    ) -> list[Erased | MemoryContractTooNew]:
        """Returns what was erased of each memory of a page, or why it stays; without a caller, what would be."""

        async def one(memory: MemoryId) -> Erased | MemoryContractTooNew:
            try:
                if caller is None:
                    return await _erasable(place, memory, began_ms)
                return await self._purge_one(place, memory, page.read_ms, began_ms, caller)
            except MemoryContractTooNew as newer:
                return newer

        return await for_each(page.memories, one, at_once=_AT_ONCE)

    async def _purge_one(self, place: Place, memory: MemoryId, read_ms: int, began_ms: int, caller: Caller) -> Erased:
        with telemetry.MeasuredCall("purge", memory), AuditedCall("purge_memory", caller, memory) as record:
            erased = await place.store.erase(memory, born_until_ms=began_ms, mode="read-write")
            if erased.existed or erased.backups:
                record.done(removed=erased.messages, backups=erased.backups, version_before=erased.version)
        if not erased.kept:
            await place.index.forget(memory, read_ms)
        return erased

    def _from(self, cursor: str | None) -> tuple[Sequence[Place], str | None]:
        """Returns the places that are left, and where to go on in the first of them."""
        if cursor is None:
            return self._places, None
        resource, inner = _read_cursor(cursor)
        left = [place for place in self._places if place.resource >= resource]
        return left, inner if left and left[0].resource == resource else None


async def _existing(place: Place, page: MemoryPage) -> list[ListedMemory]:
    """Returns what is there of a page; what has expired is forgotten on the way."""

    async def look(memory: MemoryId) -> ListedMemory | None:
        try:
            stats = await _look(place, memory)
        except MemoryContractTooNew:
            return ListedMemory(memory.resource, memory.key, None, newer=True)
        if stats is not None and is_gone(stats):
            await place.index.forget(memory, page.read_ms)
        return ListedMemory(memory.resource, memory.key, stats) if stats is None or stats.exists else None

    return [listed for listed in await for_each(page.memories, look, at_once=_AT_ONCE) if listed is not None]


async def _look(place: Place, memory: MemoryId) -> MemoryStats | None:
    """Returns the counters, or None for a damaged memory, which can only be cleared."""
    try:
        return await place.store.stats(memory, place.limits)
    except MemoryDamaged:
        return None


def is_gone(stats: MemoryStats) -> bool:
    """Tells whether nothing is left of a memory: while it has backups the index knows it, and a purge finds them."""
    return not stats.exists and not stats.backups


async def _erasable(place: Place, memory: MemoryId, began_ms: int) -> Erased:
    """Returns what an erase would remove. The backups of a damaged memory are not counted."""
    stats = await _look(place, memory)
    if stats is None:
        return Erased(existed=True, version=None, messages=0, backups=0)
    if not stats.exists or (stats.created_at is not None and _ms(stats.created_at) > began_ms):
        return Erased(existed=False, version=None, messages=0, backups=len(stats.backups))
    return Erased(existed=True, version=stats.version, messages=_held(stats), backups=len(stats.backups))


def _held(stats: MemoryStats) -> int:
    return sum(stats.messages.values()) + stats.omitted.messages


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _cursor(resource: str, inner: str | None) -> str:
    return base64.urlsafe_b64encode(json.dumps([resource, inner or ""]).encode()).decode()


def _read_cursor(cursor: object) -> tuple[str, str | None]:
    try:
        match json.loads(base64.urlsafe_b64decode(cursor.encode())) if isinstance(cursor, str) else None:
            case [str(resource), str(inner)]:
                return resource, inner or None
    except ValueError:
        pass
    raise refusals.cursor_unknown()
