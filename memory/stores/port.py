"""The store port: what a driver must do, script by script. The protocol behind it is described in docs/protocol.md.

Each method is one atomic step. Methods raise the typed errors of `durable_memory.memory.errors`; outcomes that a
flush must expect (gone, stale, busy, nothing) are values. A driver checks in this order: mode, deadline, operation id,
incarnation and if_version, capacity; only then it writes. What was refused has changed nothing.

`limits.mode`, or `mode` where a call takes no limits, is what the caller may do. append and try_append refuse
read-only; write, pin, delete, clear, restore, erase, begin, commit and drop refuse all but read-write, with
MemoryAccessDenied. A caller that holds a batch got it from begin, so content, draft, renew and fail do not look at the
mode again; reads and touches are for every mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from durable_memory.memory.access import Mode
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
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

CheckReadable: TypeAlias = Callable[[StoredEntry], object]
"""Raises MemoryFault for a message that cannot be read; what it returns is not looked at."""


def unchecked(_: StoredEntry) -> None:
    """Takes every message for readable."""


class Store(Protocol):
    """Keeps memories. Safe for concurrent use from any number of processes."""

    async def append(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits
    ) -> AppendResult:
        """Appends all entries or none. Evicts whole groups until the budget holds.

        Raises MemoryOversize, MemoryBackpressure (for the caller a reason to wake the flusher, as `flush_due` is),
        MemoryOrphanResult, MemoryOperationConflict, MemoryOperationExpired, MemoryDamaged, MemoryUnavailable.
        """
        ...

    async def try_append(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits
    ) -> None:
        """Raises what append would raise now, and changes nothing. Payloads are not looked at.

        An append that was applied before is not refused. What others do before the append may change the answer.
        """
        ...

    async def write(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits, if_version: str | None
    ) -> AppendResult:
        """Replaces everything (live, waiting, summaries) by `entries` in one step, and drops a flush in progress.

        Raises also MemoryConflict.
        """
        ...

    async def read(self, memory: MemoryId, query: ReadQuery, limits: Limits) -> StoredView:
        """Returns the view.

        An absent memory is an empty view of version `absent`. Writes nothing, but for the access of `query.ids`.
        """
        ...

    async def find(self, memory: MemoryId, ids: Sequence[str]) -> tuple[StoredEntry, ...]:
        """Returns these messages wherever they are: live, in a group that waits for a result, or in the overflow.

        At most 1,000, in the order of the ids; what is nowhere is left out. No access.
        """
        ...

    async def scan(self, memory: MemoryId, cursor: str | None, count: int) -> ScanPage:
        """Returns a page of about `count` messages of all that a memory holds, also open groups and what waits.

        Summaries first, then whole groups from the oldest on. What is there during all pages comes exactly once; what
        is summarised meanwhile may come as messages, as a summary, or both, and is never left out. No access.
        """
        ...

    async def recorded(self, memory: MemoryId, operation_id: str, limits: Limits) -> AppendResult | None:
        """Answers what a repetition of this append would get; None if none was applied. Writes nothing.

        Raises MemoryOperationConflict if the id stands for another kind of operation.
        """
        ...

    async def touch(self, memory: MemoryId, ids: Sequence[str], limits: Limits) -> tuple[str, ...]:
        """Records an access to the groups of these messages.

        Returns the ids that are live. Nothing under fifo is changed by it.
        """
        ...

    async def pin(
        self, memory: MemoryId, ids: Sequence[str], operation: Operation, limits: Limits, *, pinned: bool
    ) -> tuple[str, ...]:
        """Pins the whole live groups of these messages, or unpins them; an unpinned one has just been accessed.

        Returns the ids of live messages, each once: all but summaries and what waits in the overflow. Drops a flush in
        progress that holds a group that is pinned now. Raises MemoryOversize if system and pinned messages would fill
        more than messages may.
        """
        ...

    async def delete(self, memory: MemoryId, ids: Sequence[str], operation: Operation, limits: Limits) -> DeleteResult:
        """Removes the whole groups of these messages, or summaries, live or waiting.

        Drops a flush in progress that holds one of them.
        """
        ...

    async def clear(
        self,
        memory: MemoryId,
        operation: Operation,
        if_version: str | None = None,
        *,
        backup: bool = False,
        mode: Mode,
    ) -> ClearResult:
        """Removes everything but the record of operations. What is written next is a new incarnation.

        backup: in the same step, keep all of it for BACKUP_LIFETIME_MS, to be restored; the answer has its id. Without
        a backup it also clears what has been damaged. Raises MemoryConflict if `if_version` is given and is not its
        version.
        """
        ...

    async def restore(
        self,
        memory: MemoryId,
        backup_id: str,
        operation: Operation,
        limits: Limits,
        if_version: str | None,
        check_readable: CheckReadable = unchecked,
    ) -> AppendResult:
        """Replaces everything by a backup of this memory, as a new incarnation, and drops a flush in progress.

        check_readable: is called when nothing else refuses the call, before anything is written, with one message of
        the backup for each key that encrypted any (`seal_of` its payload), and with one that is not encrypted; what it
        raises ends the call. The answer names no ids. Raises MemoryConflict, MemoryInvalid for a backup that this
        memory does not have, and MemoryDamaged for one that is not whole.
        """
        ...

    async def erase(self, memory: MemoryId, *, born_until_ms: int, mode: Mode) -> Erased:
        """Removes everything and all backups, but the record of operations, which holds no content.

        A damaged memory is erased as well. born_until_ms: by the clock of the store; a memory that was born later is
        kept, while backups go whenever they were made.
        """
        ...

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
        """Takes the lease and the next fence, and notes the batch that the flush will summarise, in one step.

        Begun again, the same flush gets the same batch; or its result, once it is committed. Summaries that fill more
        than their room, since that was lowered, are taken as well, even alone: such a batch has no messages. Outcome
        `nothing` with the reason `max_messages` if the first group alone has more than `options.max_messages`. A
        `flush_due` in the answer goes by `options.thresholds`, where they are given.

        flush_id: names this flush in all its attempts; on the wire and in `stats` it is the owner of lease and batch.
        batch_id: a fresh random id, unused if the flush has a batch. attempt_ends_ms: Unix time after which this
        request is refused with MemoryOperationExpired, so that no dead attempt takes the lease.
        """
        ...

    async def plan(self, memory: MemoryId, limits: Limits, options: FlushOptions) -> FlushResult:
        """Tells what `begin`, or `drop` where the memory drops, would take now. Writes nothing.

        Outcome `planned`, `nothing`, `busy` or `gone`; its flush_due is that of `begin`. tokens_after: where the memory
        summarises, with a summary as large as it may become.
        """
        ...

    async def content(self, memory: MemoryId, batch: Batch, cursor: int) -> BatchPage | Stopped:
        """Returns a page of the batch's messages, wherever they are now (live or overflow); the first cursor is 0."""
        ...

    async def draft(self, memory: MemoryId, batch: Batch, summary: Entry) -> Stopped | None:
        """Stores the finished summary in the batch; a second draft replaces the first. None means stored."""
        ...

    async def renew(self, memory: MemoryId, batch: Batch, limits: Limits) -> bool:
        """Prolongs the lease; False means it is lost: the batch is gone, stale, or another flush holds the lease."""
        ...

    async def commit(self, memory: MemoryId, batch: Batch, limits: Limits, deadline_ms: int) -> FlushResult:
        """Replaces the stored batch by its draft in one step, never evicting. Outcome `committed`, `gone` or `stale`.

        The result of the flush is kept until 60 s after `deadline_ms` and answers repetitions. Raises
        MemorySummaryRejected for a draft that is missing, empty or larger than summary_max.
        """
        ...

    async def fail(self, memory: MemoryId, batch: Batch, error_type: str, retry_after_ms: int) -> Stopped | None:
        """Gives the batch and its lease back.

        No other begin is accepted for `retry_after_ms` unless forced. None means done.
        """
        ...

    async def drop(self, memory: MemoryId, operation: Operation, limits: Limits, options: FlushOptions) -> FlushResult:
        """Flushes a memory that drops: removes, in one step, what `begin` would select.

        Summaries from a time when it summarised go too, the oldest first, until the rest fits. `options.thresholds`
        decide only what is taken; whether another flush is due, and since when, goes by `limits`. Outcome `dropped`,
        `nothing` or `gone`.
        """
        ...

    async def stats(self, memory: MemoryId, limits: Limits) -> MemoryStats:
        """Returns the counters. Writes nothing."""
        ...

    async def ping(self) -> None:
        """Raises MemoryUnavailable, soon and with the store's address, if it does not answer or takes no writes."""
        ...

    async def check_rights(self, memory: MemoryId) -> None:
        """Raises MemoryUnavailable, as soon, if the store's user lacks a right to write to this memory."""
        ...

    async def close(self) -> None:
        """Closes connections."""
        ...
