"""What goes into a store and comes out of it: operations, entries, queries, views and batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from durable_memory.memory.limits import Limits
from durable_memory.memory.types import PRIORITIES, FlushResult, MemoryStats, Omitted, Section

ABSENT = "absent"
"""The version of a memory that does not exist."""

NORMAL: Final = PRIORITIES.index("normal")
"""The band of a message that names no priority: 0 is low, 2 high, 3 critical."""

MOST_OPEN: Final = 100_000
"""Operations of one memory that are remembered at the same time."""

KEPT_AFTER_DEADLINE_MS: Final = 60_000
"""How long the id of an operation is remembered after its deadline: clocks may differ by as much."""

LONGEST_OPERATION_MS: Final = 24 * 3600 * 1000
"""How long an operation is open at most, by the clock of who calls."""

LONGEST_KEPT_MS: Final = 2 * LONGEST_OPERATION_MS
"""How long a store that outlives its processes remembers an operation at most: a caller's clock may be a day ahead.

A deadline beyond that is of a clock that is further ahead, as in a test that skips days. It would keep its place for as
long, so it counts as this one: a repetition after two days, while that clock still allows it, would be applied again.
"""

MOST_RANGES: Final = 64
"""Ranges of numbers that a summary is said to cover.

Each message that was deleted, or is live when others are summarised, leaves a gap. Of more, the oldest ranges are
joined, and what lies between them counts as covered. So a delete may name a summary that never had a message, and never
denies one that has.
"""

BACKUP_LIFETIME_MS: Final = 7 * 24 * 3600 * 1000
"""How long a backup is kept: seven days, whatever the lifetime of the memory is."""


@dataclass(frozen=True, slots=True)
class Operation:
    """The identity of one mutating call, the same for all its attempts.

    deadline_ms: Unix time after which the store refuses it; the id is remembered for KEPT_AFTER_DEADLINE_MS more.
    digest: of the input; the same id with another digest is refused. An empty digest compares with nothing: the first
    content stands.
    """

    id: str
    deadline_ms: int
    digest: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A message made ready to be stored.

    payload: its JSON text. opens: ids of the tool calls it makes, in order. answers: id of the tool call it is the
    result of. band: its priority, 0 for low to 3 for critical; a result has that of its group. whole: it belongs to a
    group and cannot be cut, so it may take what other results of the group keep.
    """

    payload: str
    section: Section
    tokens: int
    opens: tuple[str, ...] = ()
    answers: str | None = None
    pinned: bool = False
    band: int = NORMAL
    whole: bool = False


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
    sections: only these. ids: just these live messages with their whole groups; it is an access to each of these that
    is live, also where a limit leaves it out, unless the version is still `since_version`. before_id: only what stands
    in the view before this message; one that is no longer held counts as one of short_term; MemoryInvalid if it is of
    no message of this incarnation. since_version: if the memory still has this version, the view is empty.
    is_access: whether a read by ids is one; who reads several times for one answer makes it one of the last read alone.
    """

    limit: int | None = None
    max_tokens: int | None = None
    sections: tuple[Section, ...] | None = None
    ids: tuple[str, ...] | None = None
    before_id: str | None = None
    since_version: str | None = None
    is_access: bool = True


@dataclass(frozen=True, slots=True)
class StoredView:
    """The answer to a read: entries in view order, their token sum, the overflow's counters."""

    entries: tuple[StoredEntry, ...]
    tokens: int
    version: str
    omitted_messages: int
    omitted_tokens: int
    flush_due: bool


ABSENT_VIEW: Final = StoredView((), 0, ABSENT, 0, 0, flush_due=False)
"""The view of a memory that does not exist."""


def absent_stats(limits: Limits) -> MemoryStats:
    """Returns the counters of a memory that does not exist."""
    nothing = dict.fromkeys(limits.sections, 0)
    return MemoryStats(
        exists=False,
        version=ABSENT,
        tokens=nothing,
        messages=nothing,
        omitted=Omitted(),
        max_tokens=limits.max_tokens,
        max_messages=limits.max_messages,
        flush_due=False,
        shares=limits.share_tokens,
    )


@dataclass(frozen=True, slots=True)
class FlushOptions:
    """What a caller wants of one flush, beside what the memory declares.

    force: ignore threshold and target, take all but what is kept. max_messages: take no more, in whole groups; what
    waits in the overflow goes first. thresholds: limits whose thresholds and targets hold in place of the memory's own;
    they have the same mode.
    """

    force: bool = False
    max_messages: int | None = None
    thresholds: Limits | None = None

    def chooses_by(self, own: Limits) -> Limits:
        """Returns the limits by whose thresholds and targets the flush chooses. own: those of the memory."""
        return self.thresholds or own


@dataclass(frozen=True, slots=True)
class Batch:
    """The flush in progress: which messages and summaries a commit will replace. All later steps name it.

    flush_id: of the flush in all its attempts, see Store.begin. summary_max: tokens that the summary may have.
    """

    incarnation: str
    fence: int
    flush_id: str
    id: str
    messages: int
    tokens: int
    summary_max: int


@dataclass(frozen=True, slots=True)
class BatchPage:
    """A page of a batch's content, old summaries first, then messages in order. cursor is None on the last page."""

    entries: tuple[StoredEntry, ...]
    cursor: int | None


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erase removed.

    existed: whether it removed a memory: not if there was none, or if it was kept (`kept`), since it was born too late.
    version: of that memory, where it is known. messages: live, waiting and summaries.
    """

    existed: bool
    version: str | None
    messages: int
    backups: int
    kept: bool = False


Stopped: TypeAlias = Literal["gone", "stale"]
"""The memory was cleared or expired (`gone`), or the batch is no longer the memory's (`stale`). Nothing was written."""

Begun: TypeAlias = "Batch | FlushResult"
"""A batch to work on.

Or how it ended: outcome `committed` for a flush that is already done, `gone`, `busy`, `nothing`.
"""
