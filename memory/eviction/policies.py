"""Eviction policies: each is a small class that scores groups; the lowest score goes next.

The scripts of the Redis store give the same scores (part_score.lua), as numbers that a sorted set keeps exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Protocol

from durable_memory.memory.limits import PolicyName

TICKS_PER_MS: Final = 1024
"""Moments in a millisecond: appends and accesses within one keep their order, and an age in moments is a time."""

HALF_LIFE_MS: Final = 86_400_000
"""Under lfu an access counts half as much after this time as when it was made: after a day."""

STEPS: Final = 32
"""Steps of a level of lfu that are worth one half-life, so that one is 45 minutes. See Lfu."""

STEP: Final = 2**33
"""The distance between two levels in a score. The number of the group stands below it, so that equal ones go by age."""

EPOCH_MS: Final = 1_577_836_800_000
"""The moment of level 0, 2020-01-01: a sorted set keeps whole numbers up to 2**53, which is enough until 2109."""

MOST_STEPS: Final = 20 * STEPS
"""No group is further above one that was just appended: as if it had been accessed a million times at once."""

BAND: Final = 2**48
"""The distance between two priorities in a score. The number of the group stands below it."""

NEVER_BEFORE_OTHERS: Final = 2**60
"""More than any score."""


def next_moment(moment: int, now_ms: int) -> int:
    """Returns the moment after `moment`: later than it, and not before the clock."""
    return max(moment + 1, now_ms * TICKS_PER_MS)


class Policy(Protocol):
    """Scores a group when it is appended, when a result joins it, when it is accessed, and at a flush.

    group: number of the group's first message; it grows with every message of a memory.
    moment: a number that grows with every message and every access of a memory, TICKS_PER_MS in a millisecond.
    band: the priority of the group's first message, 0 for low to 3 for critical.
    """

    uses_accesses: bool
    """An access changes the score of a group."""

    spares_last: bool
    """An append spares the group of its own last message as long as another closed group can go.

    Without it what was just said could be in no view, since others have higher scores. Under fifo and lru it has the
    highest.
    """

    def score_at_append(self, group: int, moment: int, band: int) -> int:
        """Returns the score of a new group; of an old one when the policy of its memory has changed to this one."""
        ...

    def score_at_join(self, score: int, moment: int) -> int:
        """Returns the score of a group that had `score` when a result joined it."""
        ...

    def score_at_access(self, score: int, moment: int) -> int:
        """Returns the score of a group that was just accessed and had `score`."""
        ...

    def score_at_flush(self, score: int, moment: int, tokens: int) -> int:
        """Returns the score by which a flush takes a group of so many tokens."""
        ...


class Fifo:
    """First in, first out: the oldest group goes next, whatever was read since."""

    uses_accesses = False
    spares_last = False

    def score_at_append(self, group: int, moment: int, band: int) -> int:  # noqa: ARG002 - the age of the group says it all
        """See Policy."""
        return group

    def score_at_join(self, score: int, moment: int) -> int:  # noqa: ARG002 - a result changes nothing
        """See Policy."""
        return score

    def score_at_access(self, score: int, moment: int) -> int:  # noqa: ARG002 - an access changes nothing
        """See Policy."""
        return score

    def score_at_flush(self, score: int, moment: int, tokens: int) -> int:  # noqa: ARG002 - as at an append
        """See Policy."""
        return score


class Lru(Fifo):
    """Least recently used: the group whose last message or access is longest ago goes next."""

    uses_accesses = True

    def score_at_append(self, group: int, moment: int, band: int) -> int:  # noqa: ARG002 - only recency counts
        """See Policy."""
        return moment

    def score_at_join(self, score: int, moment: int) -> int:  # noqa: ARG002 - only recency counts
        """See Policy."""
        return moment

    def score_at_access(self, score: int, moment: int) -> int:  # noqa: ARG002 - only recency counts
        """See Policy."""
        return moment


class TokenAwareLru(Lru):
    """As lru at an append. A flush takes first what was unused for long and is large: time since it times tokens."""

    def score_at_flush(self, score: int, moment: int, tokens: int) -> int:
        """See Policy."""
        return (score - moment) * tokens


class Lfu(Fifo):
    """Least frequently used: the group with the fewest accesses goes next, the oldest of equals; counts fade.

    The append of a group is the first of its accesses; a result that joins it is none. An access that was made t ago
    counts 2 ** (-t / half-life). All counts fade alike, so their order changes at accesses alone, and a score need not
    be touched between them: it holds the level log2(sum of 2 ** (time of access / half-life)), in steps. (Forward
    decay, after Cormode, Shkapenyuk, Srivastava and Xu, "Forward decay: a practical time decay model for streaming
    systems", ICDE 2009.) An access adds one step at least, so that each is seen.
    """

    uses_accesses = True
    spares_last = True

    def score_at_append(self, group: int, moment: int, band: int) -> int:  # noqa: ARG002 - no priorities
        """See Policy."""
        return _level(moment) * STEP + group

    def score_at_access(self, score: int, moment: int) -> int:
        """See Policy."""
        level, group = divmod(score, STEP)
        now = _level(moment)
        # Bounded before it is an exponent: what is further ahead has the most levels anyway.
        above = min(level - now, MOST_STEPS)
        counted = math.floor(STEPS * math.log(1 + 2.0 ** (above / STEPS)) / math.log(2) + 0.5)
        return (now + min(max(above + 1, counted), MOST_STEPS)) * STEP + group


def _level(moment: int) -> int:
    """Returns the level of a group with one access, at this moment."""
    return (moment // TICKS_PER_MS - EPOCH_MS) * STEPS // HALF_LIFE_MS


class Priority(Fifo):
    """The lowest priority goes next, and of equals the oldest, whatever was read since."""

    spares_last = True

    def score_at_append(self, group: int, moment: int, band: int) -> int:  # noqa: ARG002 - only age within a band
        """See Policy."""
        return band * BAND + group


POLICIES: Final[dict[PolicyName, Policy]] = {
    "fifo": Fifo(),
    "lru": Lru(),
    "lfu": Lfu(),
    "priority": Priority(),
    "token_aware_lru": TokenAwareLru(),
}
"""Every policy by the name it has in a declaration."""

SCORES_OF: Final[Mapping[PolicyName, PolicyName]] = {**{name: name for name in POLICIES}, "token_aware_lru": "lru"}
"""The policy whose scores a memory keeps under each policy: a change between two with the same scores changes none."""
