"""One memory of a store, driven by short calls: what the conformance suite and the tests of rules are written with."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, field, replace
from typing import Final

from durable_memory.memory.clock import Clock, SystemClock
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.port import CheckReadable, Store, unchecked
from durable_memory.memory.stores.values import (
    Batch,
    Begun,
    Entry,
    Erased,
    FlushOptions,
    Operation,
    ReadQuery,
    StoredEntry,
    StoredView,
)
from durable_memory.memory.types import AppendResult, ClearResult, DeleteResult, FlushResult, MemoryStats, Section
from durable_memory.testing.contracts.builders import section_tokens, summary, text_of, texts_of

OPERATION_MS: Final = 600_000


def fresh_memory() -> MemoryId:
    """The identity of a memory that nobody else uses."""
    return MemoryId("project", "resource", f"key:{uuid.uuid4().hex}")


@dataclass(frozen=True, slots=True)
class Driven:
    """A memory under test: the store's calls with its identity, limits and operations filled in.

    Where `op` is given, the call is an attempt of that operation: a second call with it is a repetition.
    patience_ms: how far in the future the deadlines of all calls lie.
    """

    store: Store
    limits: Limits
    memory: MemoryId = field(default_factory=fresh_memory)
    clock: Clock = field(default_factory=SystemClock)
    patience_ms: int = OPERATION_MS

    def under(self, limits: Limits) -> Driven:
        """Returns the same memory under other limits, as after a change of its declaration."""
        return replace(self, limits=limits)

    def operation(self, op: str | None, *content: str) -> Operation:
        """Returns an operation with a deadline `patience_ms` from now and a digest of `content`."""
        digest = hashlib.sha256("\0".join(content).encode()).hexdigest()[:16]
        return Operation(op or uuid.uuid4().hex, self.clock.now_ms() + self.patience_ms, digest)

    async def append(self, *entries: Entry, op: str | None = None) -> AppendResult:
        """Appends in one batch."""
        return await self.store.append(
            self.memory, entries, self.operation(op, *(e.payload for e in entries)), self.limits
        )

    async def try_append(self, *entries: Entry, op: str | None = None) -> None:
        """Asks whether the same append would be refused."""
        operation = self.operation(op, *(e.payload for e in entries))
        await self.store.try_append(self.memory, entries, operation, self.limits)

    async def append_each(self, *entries: Entry) -> list[str]:
        """Appends one by one and returns the ids."""
        return [(await self.append(entry)).ids[0] for entry in entries]

    async def write(self, *entries: Entry, op: str | None = None, if_version: str | None = None) -> AppendResult:
        """Replaces everything."""
        operation = self.operation(op, *(e.payload for e in entries), if_version or "")
        return await self.store.write(self.memory, entries, operation, self.limits, if_version)

    async def found(self, *ids: str) -> list[str]:
        """Returns the texts of these messages that the memory holds, wherever they are."""
        return [text_of(entry) for entry in await self.store.find(self.memory, ids)]

    async def read(
        self,
        *,
        limit: int | None = None,
        max_tokens: int | None = None,
        sections: tuple[Section, ...] | None = None,
        ids: tuple[str, ...] | None = None,
        before: str | None = None,
        since: str | None = None,
        is_access: bool = True,
    ) -> StoredView:
        """Reads the view."""
        query = ReadQuery(limit, max_tokens, sections, ids, before, since, is_access)
        return await self.store.read(self.memory, query, self.limits)

    async def recorded(self, op: str) -> AppendResult | None:
        """Asks for an append that was applied."""
        return await self.store.recorded(self.memory, op, self.limits)

    async def texts(self) -> list[str]:
        """Returns the texts of the whole view."""
        return texts_of(await self.read())

    async def touch(self, *ids: str) -> tuple[str, ...]:
        """Records an access."""
        return await self.store.touch(self.memory, ids, self.limits)

    async def pin(self, *ids: str, op: str | None = None) -> tuple[str, ...]:
        """Pins groups."""
        return await self.store.pin(self.memory, ids, self.operation(op, "pin", *ids), self.limits, pinned=True)

    async def unpin(self, *ids: str, op: str | None = None) -> tuple[str, ...]:
        """Unpins groups."""
        return await self.store.pin(self.memory, ids, self.operation(op, "unpin", *ids), self.limits, pinned=False)

    async def delete(self, *ids: str, op: str | None = None) -> DeleteResult:
        """Deletes groups and summaries."""
        return await self.store.delete(self.memory, ids, self.operation(op, *ids), self.limits)

    async def clear(self, *, op: str | None = None, if_version: str | None = None, backup: bool = False) -> ClearResult:
        """Clears the memory."""
        return await self.store.clear(
            self.memory, self.operation(op, "clear"), if_version, backup=backup, mode=self.limits.mode
        )

    async def restore(
        self,
        backup: str | None,
        *,
        op: str | None = None,
        if_version: str | None = None,
        check_readable: CheckReadable = unchecked,
    ) -> AppendResult:
        """Brings a backup back."""
        operation = self.operation(op, backup or "", if_version or "")
        return await self.store.restore(self.memory, backup or "", operation, self.limits, if_version, check_readable)

    async def erase(self, *, born_until_ms: int | None = None) -> Erased:
        """Erases memory and backups; by default whenever the memory was born."""
        until_ms = self.clock.now_ms() + OPERATION_MS if born_until_ms is None else born_until_ms
        return await self.store.erase(self.memory, born_until_ms=until_ms, mode=self.limits.mode)

    async def stats(self) -> MemoryStats:
        """Returns the counters."""
        return await self.store.stats(self.memory, self.limits)

    async def state(self) -> tuple[StoredView, MemoryStats]:
        """Returns all that can be seen without changing anything: equal before and after a refused call."""
        return await self.read(), await self.stats()

    async def plan(self, *, force: bool = False, most: int | None = None) -> FlushResult:
        """Asks what a flush would take."""
        return await self.store.plan(self.memory, self.limits, FlushOptions(force, most))

    async def begin(self, owner: str = "flusher/1", *, force: bool = False, most: int | None = None) -> Begun:
        """Asks for a batch."""
        return await self.store.begin(
            self.memory,
            owner,
            self.limits,
            FlushOptions(force, most),
            batch_id=uuid.uuid4().hex,
            attempt_ends_ms=self.clock.now_ms() + self.patience_ms,
        )

    async def batch(self, owner: str = "flusher/1", *, force: bool = False, most: int | None = None) -> Batch:
        """Asks for a batch where one must be given."""
        begun = await self.begin(owner, force=force, most=most)
        assert isinstance(begun, Batch), begun
        return begun

    async def refused_begin(
        self, owner: str = "flusher/1", *, force: bool = False, most: int | None = None
    ) -> FlushResult:
        """Asks for a batch where none must be given."""
        begun = await self.begin(owner, force=force, most=most)
        assert isinstance(begun, FlushResult), begun
        return begun

    async def content(self, batch: Batch) -> list[StoredEntry]:
        """Reads all pages of a batch that must still stand."""
        entries: list[StoredEntry] = []
        cursor: int | None = 0
        while cursor is not None:
            page = await self.store.content(self.memory, batch, cursor)
            assert not isinstance(page, str), page
            entries += page.entries
            cursor = page.cursor
        return entries

    async def content_texts(self, batch: Batch) -> list[str]:
        """Reads the texts of a batch that must still stand."""
        return [text_of(entry) for entry in await self.content(batch)]

    async def summarise(self, batch: Batch, *, tokens: int | None = None) -> str:
        """Stores a draft that lists what it covers, and returns its text; it takes at most 10 tokens."""
        text = " ".join(await self.content_texts(batch))
        drafted = await self.store.draft(
            self.memory, batch, summary(text, min(10, batch.summary_max) if tokens is None else tokens)
        )
        assert drafted is None, drafted
        return text

    async def commit(self, batch: Batch) -> FlushResult:
        """Commits a batch."""
        return await self.store.commit(self.memory, batch, self.limits, self.clock.now_ms() + self.patience_ms)

    async def flush(self, owner: str = "flusher/1", *, force: bool = False) -> FlushResult:
        """Plays one whole round that must find something to flush."""
        batch = await self.batch(owner, force=force)
        await self.summarise(batch)
        committed = await self.commit(batch)
        assert committed.outcome == "committed", committed
        return committed

    async def drop(
        self, *, force: bool = False, op: str | None = None, most: int | None = None, asked: Limits | None = None
    ) -> FlushResult:
        """Flushes a memory that drops."""
        operation = self.operation(op, str(force))
        return await self.store.drop(self.memory, operation, self.limits, FlushOptions(force, most, asked))

    async def waiting(self) -> list[str]:
        """Returns the texts of the overflow, and gives the batch that showed them back.

        For the end of a test: the batch takes the conversation too, so only what is in no view is returned.
        """
        seen = {entry.id for entry in (await self.read()).entries}
        begun = await self.begin(uuid.uuid4().hex, force=True)
        if not isinstance(begun, Batch):
            assert begun.outcome in {"nothing", "gone"}, begun
            return []
        entries = [entry for entry in await self.content(begun) if entry.id not in seen]
        await self.store.fail(self.memory, begun, "looked only", 0)
        return [text_of(entry) for entry in entries]

    async def check_counters(self) -> None:
        """Compares stored counters with a recount; for a memory without open groups, whose messages are all seen."""
        view, stats = await self.state()
        counted = section_tokens(view)
        assert {name: stats.tokens[name] for name in counted} == counted
        assert sum(stats.messages.values()) == len(view.entries)
        assert view.tokens == sum(counted.values())
        assert (view.omitted_messages, view.omitted_tokens) == (stats.omitted.messages, stats.omitted.tokens)
        waiting = await self.waiting()
        assert len(waiting) == view.omitted_messages
