"""A store that passes every call on to another one: the base of those that change a few of its calls."""

from __future__ import annotations

from collections.abc import Sequence

from durable_memory.memory.access import Mode
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.port import CheckReadable, Store, unchecked
from durable_memory.memory.stores.values import (
    Batch,
    BatchPage,
    Begun,
    Entry,
    Erased,
    FlushOptions,
    Operation,
    ReadQuery,
    ScanPage,
    Stopped,
    StoredEntry,
    StoredView,
)
from durable_memory.memory.types import AppendResult, ClearResult, DeleteResult, FlushResult, MemoryStats


class ForwardingStore:
    """A Store that does what another one does, call by call."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def append(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits
    ) -> AppendResult:
        """See Store."""
        return await self._store.append(memory, entries, operation, limits)

    async def try_append(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits
    ) -> None:
        """See Store."""
        await self._store.try_append(memory, entries, operation, limits)

    async def write(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits, if_version: str | None
    ) -> AppendResult:
        """See Store."""
        return await self._store.write(memory, entries, operation, limits, if_version)

    async def read(self, memory: MemoryId, query: ReadQuery, limits: Limits) -> StoredView:
        """See Store."""
        return await self._store.read(memory, query, limits)

    async def find(self, memory: MemoryId, ids: Sequence[str]) -> tuple[StoredEntry, ...]:
        """See Store."""
        return await self._store.find(memory, ids)

    async def scan(self, memory: MemoryId, cursor: str | None, count: int) -> ScanPage:
        """See Store."""
        return await self._store.scan(memory, cursor, count)

    async def recorded(self, memory: MemoryId, operation_id: str, limits: Limits) -> AppendResult | None:
        """See Store."""
        return await self._store.recorded(memory, operation_id, limits)

    async def touch(self, memory: MemoryId, ids: Sequence[str], limits: Limits) -> tuple[str, ...]:
        """See Store."""
        return await self._store.touch(memory, ids, limits)

    async def pin(
        self, memory: MemoryId, ids: Sequence[str], operation: Operation, limits: Limits, *, pinned: bool
    ) -> tuple[str, ...]:
        """See Store."""
        return await self._store.pin(memory, ids, operation, limits, pinned=pinned)

    async def delete(self, memory: MemoryId, ids: Sequence[str], operation: Operation, limits: Limits) -> DeleteResult:
        """See Store."""
        return await self._store.delete(memory, ids, operation, limits)

    async def clear(
        self, memory: MemoryId, operation: Operation, if_version: str | None = None, *, backup: bool = False, mode: Mode
    ) -> ClearResult:
        """See Store."""
        return await self._store.clear(memory, operation, if_version, backup=backup, mode=mode)

    async def restore(
        self,
        memory: MemoryId,
        backup_id: str,
        operation: Operation,
        limits: Limits,
        if_version: str | None,
        check_readable: CheckReadable = unchecked,
    ) -> AppendResult:
        """See Store."""
        return await self._store.restore(memory, backup_id, operation, limits, if_version, check_readable)

    async def erase(self, memory: MemoryId, *, born_until_ms: int, mode: Mode) -> Erased:
        """See Store."""
        return await self._store.erase(memory, born_until_ms=born_until_ms, mode=mode)

    async def begin(
        self,
        memory: MemoryId,
        flush_id: str,
        limits: Limits,
        options: FlushOptions,
        *,
        batch_id: str,
        attempt_ends_ms: int,
    ) -> Begun:
        """See Store."""
        return await self._store.begin(
            memory, flush_id, limits, options, batch_id=batch_id, attempt_ends_ms=attempt_ends_ms
        )

    async def plan(self, memory: MemoryId, limits: Limits, options: FlushOptions) -> FlushResult:
        """See Store."""
        return await self._store.plan(memory, limits, options)

    async def content(self, memory: MemoryId, batch: Batch, cursor: int) -> BatchPage | Stopped:
        """See Store."""
        return await self._store.content(memory, batch, cursor)

    async def draft(self, memory: MemoryId, batch: Batch, summary: Entry) -> Stopped | None:
        """See Store."""
        return await self._store.draft(memory, batch, summary)

    async def renew(self, memory: MemoryId, batch: Batch, limits: Limits) -> bool:
        """See Store."""
        return await self._store.renew(memory, batch, limits)

    async def commit(self, memory: MemoryId, batch: Batch, limits: Limits, deadline_ms: int) -> FlushResult:
        """See Store."""
        return await self._store.commit(memory, batch, limits, deadline_ms)

    async def fail(self, memory: MemoryId, batch: Batch, error_type: str, retry_after_ms: int) -> Stopped | None:
        """See Store."""
        return await self._store.fail(memory, batch, error_type, retry_after_ms)

    async def drop(self, memory: MemoryId, operation: Operation, limits: Limits, options: FlushOptions) -> FlushResult:
        """See Store."""
        return await self._store.drop(memory, operation, limits, options)

    async def stats(self, memory: MemoryId, limits: Limits) -> MemoryStats:
        """See Store."""
        return await self._store.stats(memory, limits)

    async def ping(self) -> None:
        """See Store."""
        await self._store.ping()

    async def check_rights(self, memory: MemoryId) -> None:
        """See Store."""
        await self._store.check_rights(memory)

    async def close(self) -> None:
        """See Store."""
        await self._store.close()
