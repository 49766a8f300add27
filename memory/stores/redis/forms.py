"""The forms of what scripts pack, take and answer: which values, in which order. They get these lists from here."""

from __future__ import annotations

from typing import Final, NamedTuple

COUNTERS: Final = (
    *("version", "seq", "fence"),
    *("created_at", "updated_at", "expires_at", "moment"),
    *("system_tokens", "system_messages", "long_tokens", "long_messages"),
    *("short_tokens", "short_messages", "pinned_tokens", "pinned_messages", "waiting_tokens", "waiting_messages"),
    *("flush_retry_at", "flush_at", "prune_at", "ops_until"),
)
"""What is counted of a memory, as `counters` in its :meta holds it. What is stored has this order.

seq: the number of its last message. moment: that of the last access, for the scores of policies. short, pinned: those
of short_term; user-defined sections have counters of their own. waiting: in the overflow. flush_at: when the last flush
ended, or failed; flush_retry_at: until when none begins after a failure. prune_at: when operations can be forgotten
again. ops_until: when the record of operations ends.
"""


class PackedLimits(NamedTuple):
    """The limits that a call brings, as a script takes them first; what is not limited is infinite.

    rule: the policy, as part_limits.lua tells them apart. mode: 0 everything, 1 append and read, 2 read.
    """

    max_tokens: float
    max_messages: float
    summarize: float
    room_tokens: float
    room_messages: float
    summary_tokens: float
    overflow_tokens: float
    overflow_messages: float
    due_tokens: float
    due_messages: float
    target_tokens: float
    target_messages: float
    keep_first: float
    keep_last: float
    rule: float
    open_group_ms: float
    ttl_ms: float
    lease_ms: float
    mode: float
    oldest_share: float


LIMITS: Final = PackedLimits._fields


class StatsReply(NamedTuple):
    """The counters as stats.lua answers them, between the list of backups and the sums of the sections.

    waiting: in the overflow. blocked: why a due flush would find nothing, or empty. flushing_owner: which flush
    holds the lease, or empty. due_at: since when a flush is due, or zero. Times are Unix milliseconds, zero for none.
    """

    version: bytes
    waiting_tokens: int
    waiting_messages: int
    flush_due: int
    blocked: bytes
    flushing_owner: bytes
    flush_at: int
    flush_outcome: bytes
    created_at: int
    updated_at: int
    expires_at: int
    due_at: int


STATS: Final = StatsReply._fields
