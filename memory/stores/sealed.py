"""A store that keeps payloads encrypted, around any other one: messages, summaries and drafts alike."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from durable_memory.memory.errors import MemoryOperationConflict
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.privacy.keyring import Keyring, NotOpened, UnknownKey
from durable_memory.memory.privacy.sealed_payload import is_sealed, missing_key, not_opened
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.forwarding import ForwardingStore
from durable_memory.memory.stores.port import CheckReadable, Store, unchecked
from durable_memory.memory.stores.values import (
    Batch,
    BatchPage,
    Entry,
    Operation,
    ReadQuery,
    ScanPage,
    Stopped,
    StoredEntry,
    StoredView,
)
from durable_memory.memory.types import AppendResult

_Answer = TypeVar("_Answer")

_log = logging.getLogger(__name__)


def sealed_backend(backend: Backend, keyring: Keyring) -> Backend:
    """Returns the backend with its payloads encrypted; what was stored in plain text before is still read."""
    sealed = replace(backend, store=SealedStore(backend.store, keyring), encrypts=True)
    guard = backend.guarded
    return sealed if guard is None else replace(sealed, guarded=lambda breaker: sealed_backend(guard(breaker), keyring))


class SealedStore(ForwardingStore):
    """A Store whose payloads are encrypted, each bound to its memory."""

    def __init__(self, store: Store, keyring: Keyring) -> None:
        super().__init__(store)
        self._keyring = keyring
        self._told: set[str] = set()  # resources of which it was said that a process without keys writes to them

    async def append(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits
    ) -> AppendResult:
        """See Store."""
        sealed = self._seal_all(memory, entries)
        return await self._keyed(operation, lambda keyed: self._store.append(memory, sealed, keyed, limits))

    async def try_append(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits
    ) -> None:
        """See Store. Nothing is sent of the payloads, so nothing is sealed."""
        nothing_said = [replace(entry, payload="") for entry in entries]
        await self._keyed(operation, lambda keyed: self._store.try_append(memory, nothing_said, keyed, limits))

    async def write(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits, if_version: str | None
    ) -> AppendResult:
        """See Store."""
        sealed = self._seal_all(memory, entries)
        return await self._keyed(operation, lambda keyed: self._store.write(memory, sealed, keyed, limits, if_version))

    async def read(self, memory: MemoryId, query: ReadQuery, limits: Limits) -> StoredView:
        """See Store. Raises also MemoryUndecryptable, as all that return messages."""
        view = await self._store.read(memory, query, limits)
        if memory.resource not in self._told and _plain_after_sealed(view.entries):
            self._told.add(memory.resource)
            _log.warning(
                "a message was stored in plain text after others had been encrypted: a process that writes to these "
                "memories lacks DURABLE_MEMORY_ENCRYPTION_KEYS",
                extra={"resource": memory.resource},
            )
        return replace(view, entries=self._open_all(memory, view.entries))

    async def find(self, memory: MemoryId, ids: Sequence[str]) -> tuple[StoredEntry, ...]:
        """See Store."""
        return self._open_all(memory, await self._store.find(memory, ids))

    async def scan(self, memory: MemoryId, cursor: str | None, count: int) -> ScanPage:
        """See Store."""
        page = await self._store.scan(memory, cursor, count)
        aad = _bound_to(memory)
        return replace(page, entries=tuple((self._open(aad, entry), waits) for entry, waits in page.entries))

    async def content(self, memory: MemoryId, batch: Batch, cursor: int) -> BatchPage | Stopped:
        """See Store."""
        page = await self._store.content(memory, batch, cursor)
        return page if isinstance(page, str) else replace(page, entries=self._open_all(memory, page.entries))

    async def draft(self, memory: MemoryId, batch: Batch, summary: Entry) -> Stopped | None:
        """See Store."""
        return await self._store.draft(memory, batch, self._seal_all(memory, [summary])[0])

    async def restore(
        self,
        memory: MemoryId,
        backup_id: str,
        operation: Operation,
        limits: Limits,
        if_version: str | None,
        check_readable: CheckReadable = unchecked,
    ) -> AppendResult:
        """See Store. What was sealed stays sealed, in a backup too; one that this keyring does not open is refused."""
        aad = _bound_to(memory)
        return await self._store.restore(
            memory, backup_id, operation, limits, if_version, lambda entry: check_readable(self._open(aad, entry))
        )

    async def _keyed(self, operation: Operation, send: Callable[[Operation], Awaitable[_Answer]]) -> _Answer:
        """Sends an operation under a digest that cannot be guessed at: a plain one of a short text can.

        While keys are rotated, an earlier attempt may have been made under another digest. What is refused for its
        digest has changed nothing, so it is sent again under those that another step of the rotation makes, and at last
        under the plain one, of before there were keys.
        """
        if not operation.digest:
            return await send(operation)
        try:
            return await send(replace(operation, digest=self._keyring.digest(operation.digest)))
        except MemoryOperationConflict:
            for digest in (*self._keyring.other_digests(operation.digest), operation.digest):
                with suppress(MemoryOperationConflict):
                    return await send(replace(operation, digest=digest))
            raise

    def _seal_all(self, memory: MemoryId, entries: Sequence[Entry]) -> list[Entry]:
        aad = _bound_to(memory)
        return [replace(entry, payload=self._keyring.seal_text(entry.payload, aad)) for entry in entries]

    def _open_all(self, memory: MemoryId, entries: Sequence[StoredEntry]) -> tuple[StoredEntry, ...]:
        aad = _bound_to(memory)
        return tuple(self._open(aad, entry) for entry in entries)

    def _open(self, aad: bytes, entry: StoredEntry) -> StoredEntry:
        if not is_sealed(entry.payload):
            return entry
        try:
            payload = self._keyring.open_text(entry.payload, aad)
        except UnknownKey:
            raise missing_key(entry.id, entry.payload) from None
        except NotOpened:
            raise not_opened(entry.id, entry.payload) from None
        return StoredEntry(entry.id, payload, entry.section, entry.tokens, entry.pinned)


def _plain_after_sealed(entries: Sequence[StoredEntry]) -> bool:
    """Tells whether a plain message is younger than a sealed one; older ones are from before there were keys."""
    youngest_plain = max((_seq(entry) for entry in entries if not is_sealed(entry.payload)), default=None)
    if youngest_plain is None:
        return False
    return any(is_sealed(entry.payload) and _seq(entry) < youngest_plain for entry in entries)


def _seq(entry: StoredEntry) -> int:
    """Returns the number of a message; a late result stands with its call, so places do not tell the age."""
    return int(entry.id.split("-")[1])


@lru_cache(maxsize=1024)
def _bound_to(memory: MemoryId) -> bytes:
    return b"durable-memory message\0" + json.dumps([memory.project, memory.resource, memory.key]).encode()
