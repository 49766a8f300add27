"""The numbers that govern one memory, made from its declaration.

Stores take them as arguments with each call and keep none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from durable_memory.memory.access import Mode
from durable_memory.memory.types import LONG_TERM, SECTIONS, SHORT_TERM, SYSTEM, Section

PolicyName: TypeAlias = Literal["fifo", "lru", "lfu", "priority", "token_aware_lru"]


RESULT_RESERVE: Final = 64
"""Tokens that hold a result of which little but the mark of the cut is left: its framing, the id of its call (about 20;
35 where a tokenizer is estimated to give many), its name, and some words."""


@dataclass(frozen=True, slots=True)
class Share:
    """The part of the token budget that is one section's own: nothing is lent.

    tokens: what the section may fill. due_tokens: a flush is due when it has reached this. target_tokens: a flush takes
    its groups until it has at most this. None: never due, never taken for tokens.
    """

    section: Section
    tokens: int
    due_tokens: int | None = None
    target_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Room:
    """How much may be filled, in tokens or in messages; and by which section, where it is the share of one."""

    limit: int
    section: Section | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Budget, thresholds and lifetimes in absolute numbers: tokens, messages, milliseconds. None means: no such limit.

    max_tokens, max_messages: hard limits of the live view, summaries included. summarize: what is evicted waits in the
    overflow for its summary (True), or is dropped and counted (False). summary_tokens: room kept free for summaries
    under `summarize`; everything outside long_term fills at most max_tokens - summary_tokens and max_messages - 1. Zero
    where the memory drops. overflow_tokens, overflow_messages: capacity of the overflow.

    due_tokens, due_messages: a flush is due when the live view outside long_term reaches one of them, or when the
    overflow is not empty. target_tokens, target_messages: it takes groups until the live view outside long_term is at
    most this. oldest_share: it takes at least this share of the conversation's messages, 0 to 1, even below its target.
    keep_first, keep_last: groups of short_term that it leaves alone at either end.

    policy: which group goes next. open_group_ms: a group that waits longer than this for a result counts as abandoned.
    ttl_ms: lifetime of the whole memory since the last write. refresh_on_read: a read prolongs it as well. lease_ms:
    lifetime of a flush's lease. mode: what the caller may do; stores refuse what it does not allow before they look at
    anything else.

    shares: how max_tokens is divided between the sections, in the order of the view: system, long_term, user-defined
    ones, short_term. Empty: one common budget. Where there are shares, room_tokens, due_tokens and target_tokens give
    way to them; limits of messages stay common.

    result_reserve: tokens that a result of a tool call leaves for each one that its group waits for beside it, where
    clients cut what is too large. Zero where they do not.
    """

    max_tokens: int | None
    max_messages: int | None
    summarize: bool
    summary_tokens: int
    overflow_tokens: int | None
    overflow_messages: int | None
    due_tokens: int | None
    due_messages: int | None
    target_tokens: int | None
    target_messages: int | None
    keep_first: int
    keep_last: int
    policy: PolicyName
    open_group_ms: int
    ttl_ms: int | None
    lease_ms: int
    refresh_on_read: bool = False
    mode: Mode = "read-write"
    shares: tuple[Share, ...] = ()
    oldest_share: float = 0
    result_reserve: int = 0

    @classmethod
    def unlimited(cls) -> Limits:
        """Returns limits that limit nothing: nothing is evicted, nothing is ever due, nothing ends."""
        return cls(
            max_tokens=None,
            max_messages=None,
            summarize=False,
            summary_tokens=0,
            overflow_tokens=None,
            overflow_messages=None,
            due_tokens=None,
            due_messages=None,
            target_tokens=None,
            target_messages=None,
            keep_first=0,
            keep_last=0,
            policy="fifo",
            open_group_ms=3_600_000,
            ttl_ms=None,
            lease_ms=30_000,
        )

    @property
    def room_tokens(self) -> int | None:
        """What everything outside long_term may fill, in tokens (R9: the room of summaries is never lent)."""
        return None if self.max_tokens is None else self.max_tokens - self.summary_tokens

    @property
    def room_messages(self) -> int | None:
        """What everything outside long_term may fill, in messages."""
        return None if self.max_messages is None else self.max_messages - (1 if self.summarize else 0)

    @property
    def sections(self) -> tuple[Section, ...]:
        """The declared sections, in the order of the view."""
        return tuple([share.section for share in self.shares]) if self.shares else SECTIONS

    @property
    def conversation_shares(self) -> tuple[Share, ...]:
        """The shares of what a flush takes from: user-defined sections and short_term, in the order of the view."""
        return tuple([share for share in self.shares if share.section not in {SYSTEM, LONG_TERM}])

    @property
    def user_sections(self) -> tuple[Section, ...]:
        """The user-defined ones among the sections."""
        return tuple([share.section for share in self.conversation_shares if share.section != SHORT_TERM])

    @property
    def share_tokens(self) -> dict[Section, int]:
        """What each section may fill of its own, in tokens; empty where the budget is common."""
        return {share.section: share.tokens for share in self.shares}

    def section_of(self, stored: Section) -> Section:
        """Returns where a stored message stands: one whose section is not declared stands in short_term."""
        return stored if stored in self.sections else SHORT_TERM

    def share_of(self, section: Section) -> int | None:
        """Returns what this section may fill of its own, in tokens; None where the budget is common."""
        return next((share.tokens for share in self.shares if share.section == section), None)

    def room_of(self, section: Section) -> Room | None:
        """Returns what a message or group of this section may fill, in tokens; None: nothing limits it."""
        section = self.section_of(section)
        share = self.share_of(section)
        return self._common_room() if share is None else Room(share, section)

    def widest_room(self) -> Room | None:
        """Returns the room of a result, which stands in the section of its call, as `room_of` does."""
        # Among equals short_term wins, which stands last.
        widest = max(reversed(self.conversation_shares), key=lambda share: share.tokens, default=None)
        return self._common_room() if widest is None else Room(widest.tokens, widest.section)

    def _common_room(self) -> Room | None:
        return None if self.room_tokens is None else Room(self.room_tokens)


@dataclass(frozen=True, slots=True)
class BreakerLimits:
    """The numbers of a circuit breaker.

    timeout_seconds: what one call of the store may take. max_failures: in a row, until it opens. reset_seconds: how
    long it stays open before a call tries again.
    """

    timeout_seconds: float
    max_failures: int
    reset_seconds: float
