"""What the operations answer, apart from views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias

from durable_memory.memory.types.brief import brief
from durable_memory.memory.types.message import Message
from durable_memory.memory.types.view import Omitted, View


@dataclass(frozen=True, slots=True)
class AppendResult:
    """The answer to an append, a write or a restore.

    ids: of the appended messages, in order; none of a restore. version, tokens, messages: of the view afterwards, with
    tool calls that no view shows yet, since they wait for a result. evicted: messages that left the view for the
    overflow, or for good where the resource drops. late: results that followed their group out of the view. flush_due:
    whether the background flush is due. already_applied: this operation had been applied before; nothing was written
    now. removed: how many messages a write or a restore replaced, live and waiting. created: the memory came into being
    with it. view: the view afterwards, if the append asked for it. dropped: messages that were not stored, since the
    resource keeps none of their kind; they have no ids here.
    """

    ids: tuple[str, ...]
    version: str
    tokens: int
    messages: int
    evicted: int = 0
    late: int = 0
    flush_due: bool = False
    already_applied: bool = False
    removed: int = 0
    created: bool = False
    view: View | None = None
    dropped: int = 0

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class Turn:
    """A recorded turn: the messages that the memory holds for it, and the answer to the append behind it."""

    messages: tuple[Message, ...]
    result: AppendResult


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """The answer to a delete: whole groups are removed.

    removed: ids that are gone with it. not_found: ids that this memory does not hold. covered: ids whose content only a
    summary holds, with the id of that summary: delete the summary to remove it. Of a memory with many gaps between what
    was summarised, an old message that was deleted before may be named there too, never the other way round.
    already_applied: as of an append; removed is what the first call removed.
    """

    removed: tuple[str, ...]
    not_found: tuple[str, ...] = ()
    covered: Mapping[str, str] = field(default_factory=dict)
    already_applied: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class ClearResult:
    """The answer to a clear: how many messages, live, waiting and summaries, it removed.

    backup_id: of the backup that was asked for; None if there was no memory. already_applied: as of an append; the rest
    is the answer to the first call.
    """

    cleared: int
    backup_id: str | None = None
    already_applied: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup of a memory, that can be restored until it ends. Times are UTC."""

    id: str
    messages: int
    created_at: datetime
    ends_at: datetime


FlushOutcome: TypeAlias = Literal["committed", "dropped", "nothing", "gone", "stale", "busy", "planned", "signalled"]
TOOK_OUT: Final[tuple[FlushOutcome, ...]] = ("committed", "dropped")
"""Outcomes of a flush that took messages out of the view."""

FlushReason: TypeAlias = Literal["below_threshold", "pinned", "keep", "max_messages"]
"""Why a flush takes nothing."""


@dataclass(frozen=True, slots=True)
class FlushResult:
    """What a flush did.

    outcome: `committed` (a summary replaced messages, or only summaries that had become too large), `dropped`
    (messages removed, the resource drops), `nothing` (see reason: below_threshold, pinned, keep, max_messages), `gone`
    or `stale` (the memory was cleared, expired or replaced meanwhile; nothing was written), `busy` (another flush
    holds the lease, or the pause after a failed one is not over), `planned` (a dry run: what would be removed, with
    a summary counted as large as it may become), `signalled` (the background was told). removed_ids: empty in an
    answer to a workflow that could not carry them all. tokens and messages are those of the live view before and
    after. already_applied: another attempt had done it; the rest is its result.
    """

    outcome: FlushOutcome
    reason: FlushReason | None = None
    removed_ids: tuple[str, ...] = ()
    summary_id: str | None = None
    tokens_before: int = 0
    tokens_after: int = 0
    messages_before: int = 0
    messages_after: int = 0
    flush_due: bool = False
    retry_after_ms: int = 0
    already_applied: bool = field(default=False, compare=False)

    __repr__ = brief


GroupBy: TypeAlias = Literal["role", "author", "section", "day"]
"""How stats may be grouped.

`author` is the agent that signed, or empty. `section` has a group `waiting` beside the sections. `day` is that of UTC.
"""


@dataclass(frozen=True, slots=True)
class StatsGroup:
    """A group of messages, and how many messages and tokens it has."""

    name: str
    messages: int
    tokens: int


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """The counters of one memory; nothing is loaded or counted for it.

    Tokens and messages are given per section of the view, with tool calls that no view shows yet, since they wait for a
    result; `omitted` is the overflow. Times are UTC. flush_blocked: why a flush that is due would take nothing.
    flushing_owner: who holds the lease. last_flush_outcome: `committed`, `dropped`, or `failed: ` and the type of the
    error. due_since: since when a flush is due that has not ended. groups: of all that is held, if that was asked for;
    groups_complete: whether all of it was looked at. shares: what each section may fill, in tokens, where the resource
    divides its budget. backups: those that can be restored, oldest first; they outlive the memory.
    """

    exists: bool
    version: str
    tokens: Mapping[str, int]
    messages: Mapping[str, int]
    omitted: Omitted
    max_tokens: int | None
    max_messages: int | None
    flush_due: bool
    flush_blocked: FlushReason | None = None
    flushing_owner: str | None = None
    last_flush_at: datetime | None = None
    last_flush_outcome: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    expires_at: datetime | None = None
    due_since: datetime | None = None
    groups: tuple[StatsGroup, ...] = ()
    groups_complete: bool = True
    shares: Mapping[str, int] = field(default_factory=dict)
    backups: tuple[Backup, ...] = ()

    __repr__ = brief

    @property
    def section_ratios(self) -> Mapping[str, float]:
        """How much of its share each section fills; empty where the budget is common."""
        return {name: self.tokens.get(name, 0) / share for name, share in self.shares.items() if share}

    @property
    def budget_ratio(self) -> float | None:
        """Share of the token budget that the live view fills; None without a token budget."""
        return None if not self.max_tokens else sum(self.tokens.values()) / self.max_tokens


@dataclass(frozen=True, slots=True)
class MemoryHealth:
    """Whether a memory can do its work: `healthy`, or `problems` in words; stats is None if the store gave none.

    answer_us: how long the store took to answer, in microseconds, if that was asked for. warnings: what most likely
    passes by itself, in words; a healthy memory may have some.
    """

    healthy: bool
    problems: tuple[str, ...]
    stats: MemoryStats | None
    answer_us: int | None = None
    warnings: tuple[str, ...] = ()
