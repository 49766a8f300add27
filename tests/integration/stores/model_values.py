"""What the model of a memory is made of."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from durable_memory.memory.errors import MemoryFault
from durable_memory.memory.limits import PolicyName
from durable_memory.memory.stores.values import Entry


@dataclass(eq=False)
class Kept:
    """A message that is live or waits in the overflow."""

    text: str
    tokens: int
    group: Group


@dataclass(eq=False)
class Group:
    """Messages that stand or fall together.

    number: of its first message among all. used: when it was last appended to or accessed. uses: how often.
    """

    number: int
    section: str
    pinned: bool
    band: int
    age: int
    used: int
    uses: int = 1
    waiting: list[str] = field(default_factory=list)

    def rank(self, policy: PolicyName) -> tuple[bool, int, int]:
        """Where it stands in the queue of those that go: open groups last."""
        by = {"fifo": self.age, "lru": self.used, "token_aware_lru": self.used, "lfu": self.uses, "priority": self.band}
        return bool(self.waiting), by[policy], self.age


@dataclass(eq=False)
class Summary:
    """A summary and the texts that it covers."""

    text: str
    tokens: int
    cover: list[str]


@dataclass(eq=False)
class Taken:
    """The flush in progress."""

    owner: str
    messages: list[Kept]
    summaries: list[Summary]
    draft: Entry | None = None

    def texts(self) -> list[str]:
        """What its content says: old summaries first."""
        return [s.text for s in self.summaries] + [kept.text for kept in self.messages]


class Refused(Exception):
    """What the store must refuse, with which error."""

    def __init__(self, error: type[MemoryFault]) -> None:
        super().__init__(error.__name__)
        self.error = error


def first_groups(going: Sequence[Kept], live: Sequence[Kept], most: int) -> list[Kept]:
    """Returns the first of those that go, at most so many, by whole groups; what waits of a live group is apart."""
    taken: list[Kept] = []
    for _, group in itertools.groupby(going, key=lambda kept: (kept in live, id(kept.group))):
        members = list(group)
        if len(taken) + len(members) > most:
            break
        taken += members
    return taken


def size_of(kept: Sequence[Kept]) -> tuple[int, int]:
    """Their tokens and messages."""
    return sum(one.tokens for one in kept), len(kept)


def reaches(number: int, level: int | None) -> bool:
    """Whether a level is there and reached."""
    return level is not None and number >= level


def exceeds(number: int, limit: int | None) -> bool:
    """Whether a limit is there and exceeded."""
    return limit is not None and number > limit
