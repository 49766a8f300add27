"""The store port: what a driver must do, script by script. The protocol behind it is described in docs/protocol.md.

Each method is one atomic step. Methods raise the typed errors of `durable_memory.memory.errors`; outcomes that a
flush must expect (gone, stale, busy, nothing) are values. A driver checks in this order: mode, deadline, operation id,
incarnation and if_version, capacity; only then it writes. What was refused has changed nothing.

`limits.mode`, or `mode` where a call takes no limits, is what the caller may do. append refuses read-only; write, pin,
delete, clear, begin, commit and drop refuse all but read-write, with MemoryAccessDenied. Who holds a batch got it
from a begin, so content, draft, renew and fail ask no more; reads and touches are for every mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from durable_memory.memory.access import Mode
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.breaker import Breaker
from durable_memory.memory.stores.index_port import ProjectIndex
from durable_memory.memory.stores.spending_port import Spending
from durable_memory.memory.types import AppendResult, ClearResult, DeleteResult, FlushResult, MemoryStats, Section

ABSENT = "absent"
"""The version of a memory that does not exist."""

NORMAL: Final = 1
"""The band of a message that names no priority: 0 is low, 2 high, 3 critical."""


BACKUP_LIFETIME_MS: Final = 7 * 24 * 3600 * 1000
"""How long a backup is kept: seven days, whatever the lifetime of the memory is."""


@dataclass(frozen=True, slots=True)
class Operation:
    """The identity of one mutating call, the same for all its attempts.

    deadline_ms: Unix time after which the store refuses it; the id is remembered until 60 s after it. digest: of the
    input; the same id with another digest is refused. An empty digest compares with nothing: the first content stands.
    """

    id: str
    deadline_ms: int
    digest: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A message made ready to be stored.

    payload: its JSON text. opens: ids of the tool calls it makes, in order. answers: id of the tool call it is the
    result of. band: its priority, 0 for low to 3 for critical; a result has that of its group.
    """

    payload: str
    section: Section
    tokens: int
    opens: tuple[str, ...] = ()
    answers: str | None = None
    pinned: bool = False
    band: int = NORMAL


class StoredEntry(NamedTuple):
    """A message as it stands in the store. id is opaque: `<incarnation>-<seq>-<tag>`.

    pinned: whether its group is, whatever it was appended as.
    """

    id: str
    payload: str
    section: Section
    tokens: int
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class ScanPage:
    """A page of all that a memory holds: messages in whole groups, by age.

    entries: each with whether it waits for its summary. incarnation: of the memory; empty if there is none. cursor:
    where the next page begins; None on the last one.
    """

    entries: tuple[tuple[StoredEntry, bool], ...]
    incarnation: str
    cursor: str | None


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """What to read; every limit takes whole groups, from the newest back, and applies beside the memory's own budget.

    limit: messages at most (0 is none). max_tokens: tokens at most; system messages, then pinned ones, then
    summaries are kept before the conversation; if system and pinned messages alone exceed it, MemoryOversize.
    sections: only these. ids: just these live messages with their whole groups, and an access to them. before_id: only
    what stands in the view before this message; one that is no longer held counts as one of short_term; MemoryInvalid
    if it is of no message of this incarnation. since_version: if the memory still has this version, the view is empty.
    """

    limit: int | None = None
    max_tokens: int | None = None
    sections: tuple[Section, ...] | None = None
    ids: tuple[str, ...] | None = None
    before_id: str | None = None
    since_version: str | None = None


@dataclass(frozen=True, slots=True)
class StoredView:
    """The answer to a read: entries in view order, their token sum, the overflow's counters."""

    entries: tuple[StoredEntry, ...]
    tokens: int
    version: str
    omitted_messages: int
    omitted_tokens: int
    flush_due: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """The flush in progress: which messages and summaries a commit will replace. All later steps name it.

    summary_max: tokens that the summary may have.
    """

    incarnation: str
    fence: int
    owner: str
    id: str
    messages: int
    tokens: int
    summary_max: int


@dataclass(frozen=True, slots=True)
class BatchPage:
    """A page of a batch's content, old summaries first, then messages in order. cursor is None on the last page."""

    entries: tuple[StoredEntry, ...]
    cursor: int | None


Stopped: TypeAlias = Literal["gone", "stale"]
"""The memory was cleared or expired (`gone`), or the batch is no longer the memory's (`stale`). Nothing was written."""

Begun: TypeAlias = "Batch | FlushResult"
"""A batch to work on.

Or how it ended: outcome `committed` for an owner that is already done, `gone`, `busy`, `nothing`.
"""


class Store(Protocol):
    """Keeps memories. Safe for concurrent use from any number of processes."""

    async def append(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits
    ) -> AppendResult:
        """Appends all entries or none. Evicts whole groups until the budget holds.

        Raises MemoryOversize, MemoryBackpressure (its `flush_due` side is reported by `MemoryBackpressure` itself
        being a reason to wake the flusher), MemoryOrphanResult, MemoryOperationConflict, MemoryOperationExpired,
        MemoryDamaged, MemoryUnavailable.
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
        mode: Mode = "read-write",
    ) -> ClearResult:
        """Removes everything but the record of operations. What is written next is a new incarnation.

        backup: in the same step, keep all of it for BACKUP_LIFETIME_MS, to be restored; the answer has its id. Without
        a backup it also clears what has been damaged. Raises MemoryConflict if `if_version` is given and is not its
        version.
        """
        ...

    async def restore(
        self, memory: MemoryId, backup_id: str, operation: Operation, limits: Limits, if_version: str | None
    ) -> AppendResult:
        """Replaces everything by a backup of this memory, as a new incarnation, and drops a flush in progress.

        The answer names no ids. Raises MemoryConflict, and MemoryInvalid for a backup that this memory does not have.
        """
        ...

    async def begin(
        self,
        memory: MemoryId,
        owner: str,
        *,
        batch_id: str,
        force: bool,
        attempt_ends_ms: int,
        limits: Limits,
        max_messages: int | None = None,
    ) -> Begun:
        """Takes the lease and the next fence and notes a batch, in one step.

        The same owner gets the same batch again, or its result. batch_id: a fresh random id, unused if the owner has a
        batch. force: ignore threshold and target, take all but what is kept. attempt_ends_ms: Unix time after which
        this request is refused with MemoryOperationExpired, so a dead attempt takes no lease. max_messages: take no
        more, in whole groups; what waits in the overflow goes first. If the first group alone is larger: `nothing`,
        with the reason `max_messages`.
        """
        ...

    async def plan(
        self, memory: MemoryId, limits: Limits, *, force: bool, max_messages: int | None = None
    ) -> FlushResult:
        """Tells what begin, or drop, would take now, by the same selection. Writes nothing.

        Outcome `planned`, `nothing`, `busy`, `gone`. tokens_after: where the memory summarises, with a summary as large
        as it may become.
        """
        ...

    async def content(self, memory: MemoryId, batch: Batch, cursor: int) -> BatchPage | Stopped:
        """Returns a page of the batch's messages, wherever they are now (live or overflow); the first cursor is 0."""
        ...

    async def draft(self, memory: MemoryId, batch: Batch, summary: Entry) -> Stopped | None:
        """Stores the finished summary in the batch; a second draft replaces the first. None means stored."""
        ...

    async def renew(self, memory: MemoryId, batch: Batch, limits: Limits) -> bool:
        """Prolongs the lease; False means it is lost: the batch is gone, stale, or another owner holds the lease."""
        ...

    async def commit(self, memory: MemoryId, batch: Batch, limits: Limits, deadline_ms: int) -> FlushResult:
        """Replaces the stored batch by its draft in one step, never evicting. Outcome `committed`, `gone` or `stale`.

        The owner's result is kept until 60 s after `deadline_ms` and answers repetitions. Raises
        MemorySummaryRejected for a draft that is missing, empty or larger than summary_max.
        """
        ...

    async def fail(self, memory: MemoryId, batch: Batch, error_type: str, retry_after_ms: int) -> Stopped | None:
        """Gives the batch and its lease back.

        No other begin is accepted for `retry_after_ms` unless forced. None means done.
        """
        ...

    async def drop(
        self, memory: MemoryId, operation: Operation, limits: Limits, *, force: bool, max_messages: int | None = None
    ) -> FlushResult:
        """The flush of a memory that drops: selects by the same rules as begin and removes, in one step.

        Outcome `dropped`, `nothing`, `gone`.
        """
        ...

    async def stats(self, memory: MemoryId, limits: Limits) -> MemoryStats:
        """Returns the counters. Writes nothing."""
        ...

    async def ping(self) -> None:
        """Raises MemoryUnavailable if the store does not answer."""
        ...

    async def close(self) -> None:
        """Closes connections."""
        ...


@dataclass(frozen=True, slots=True)
class Backend:
    """A store, the index of its projects and what they spend, opened together.

    guarded: makes the same behind a circuit breaker, on the same connections; None where nothing can be unavailable.
    """

    store: Store
    index: ProjectIndex
    spending: Spending
    guarded: Callable[[Breaker], Backend] | None = None
