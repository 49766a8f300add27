"""The values that the state of a memory is made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.values import NORMAL, Batch, Entry, StoredEntry
from durable_memory.memory.types import LONG_TERM, SYSTEM

Place: TypeAlias = str
"""A section, or the overflow, whose name no section can have."""

Ranges: TypeAlias = list[tuple[int, int]]
OVERFLOW: Final[Place] = "(overflow)"
_NO_CONVERSATION: Final = frozenset({SYSTEM, LONG_TERM, OVERFLOW})


def in_conversation(place: Place) -> bool:
    """Tells whether a place is short_term or a user-defined section."""
    return place not in _NO_CONVERSATION


@dataclass(slots=True)
class Tally:
    """Tokens and messages of a place."""

    tokens: int = 0
    messages: int = 0

    def change(self, tokens: int, messages: int) -> None:
        """Adds to both; negative numbers subtract."""
        self.tokens += tokens
        self.messages += messages


@dataclass(slots=True)
class Group:
    """Messages that stand or fall together. Its number is that of its first message.

    band: the priority of its first message. opens: the tool calls it made. waiting: those without a result. entries:
    its messages by their numbers. score: by which the policy ranks it. touched_ms: when its last message came. covers:
    for a summary, the numbers it replaced.
    """

    number: int
    place: Place
    pinned: bool = False
    band: int = NORMAL
    opens: tuple[str, ...] = ()
    waiting: list[str] = field(default_factory=list)
    entries: dict[int, StoredEntry] = field(default_factory=dict)
    tokens: int = 0
    score: int = 0
    touched_ms: int = 0
    covers: Ranges = field(default_factory=list)

    @property
    def messages(self) -> int:
        """How many messages it has."""
        return len(self.entries)

    def is_open(self, now_ms: int, limits: Limits) -> bool:
        """Tells whether it still waits for a result; after open_group_ms without a new message it is abandoned."""
        return bool(self.waiting) and now_ms - self.touched_ms < limits.open_group_ms


@dataclass(slots=True)
class PlannedGroup:
    """A live group as it will stand after an append: new, or joined by results. waiting: how many it misses then."""

    number: int
    place: Place
    pinned: bool
    tokens: int
    messages: int
    waiting: int
    score: int


@dataclass(slots=True)
class StoredBatch:
    """The flush in progress: the numbers of the old summaries and of the messages that it takes; held: all of both."""

    batch: Batch
    summaries: tuple[int, ...]
    numbers: tuple[int, ...]
    held: frozenset[int]
    draft: Entry | None = None


@dataclass(frozen=True, slots=True)
class Lease:
    """Which flush may begin, until when. given_ms: how long a lease lives by the declaration of its holder."""

    flush_id: str
    until_ms: int
    given_ms: int

    def seen_at(self, now_ms: int) -> Lease:
        """Returns what is left of it: if the clock went back meanwhile, no more than was given."""
        return replace(self, until_ms=min(self.until_ms, now_ms + self.given_ms))
