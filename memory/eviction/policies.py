"""Eviction policies: each is a small class that scores groups; the lowest score goes next."""

from __future__ import annotations

from typing import Final, Protocol

from durable_memory.memory.limits import PolicyName


class Policy(Protocol):
    """Scores a group when a message joins it and when it is accessed.

    group: number of the group's first message; it grows with every message of a memory.
    moment: a number that grows with every message and every access of a memory.
    """

    def score_at_append(self, group: int, moment: int) -> int:
        """Returns the score of a group that was just appended or got a result."""
        ...

    def score_at_access(self, score: int, moment: int) -> int:
        """Returns the score of a group that was just accessed and had `score`."""
        ...


class Fifo:
    """First in, first out: the oldest group goes next, whatever was read since."""

    def score_at_append(self, group: int, moment: int) -> int:  # noqa: ARG002 - the age of the group says it all
        """See Policy."""
        return group

    def score_at_access(self, score: int, moment: int) -> int:  # noqa: ARG002 - an access changes nothing
        """See Policy."""
        return score


class Lru:
    """Least recently used: the group whose last message or access is longest ago goes next."""

    def score_at_append(self, group: int, moment: int) -> int:  # noqa: ARG002 - only recency counts
        """See Policy."""
        return moment

    def score_at_access(self, score: int, moment: int) -> int:  # noqa: ARG002 - only recency counts
        """See Policy."""
        return moment


POLICIES: Final[dict[PolicyName, Policy]] = {"fifo": Fifo(), "lru": Lru()}
"""Every policy by the name it has in a declaration."""
