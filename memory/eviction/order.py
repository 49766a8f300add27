"""Which groups go next: the rule of eviction and of flush selection, over plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from durable_memory.memory.types import FlushReason


class Rank(NamedTuple):
    """Where a group stands in the queue of those that go; the smallest goes first.

    Open groups, which still wait for a result of theirs, go last. Equal scores go by age.
    """

    open: bool
    score: int
    group: int


class Excess(NamedTuple):
    """How much has to go, in tokens and in messages. Zero or less: nothing."""

    tokens: int
    messages: int

    @classmethod
    def over(cls, tokens: int, messages: int, max_tokens: int | None, max_messages: int | None) -> Excess:
        """Returns what exceeds the limits; None is no limit."""
        return cls(
            0 if max_tokens is None else tokens - max_tokens,
            0 if max_messages is None else messages - max_messages,
        )

    def __bool__(self) -> bool:
        return self.tokens > 0 or self.messages > 0

    def without(self, group: Standing) -> Excess:
        """Returns what is left when this group has gone."""
        return Excess(self.tokens - group.tokens, self.messages - group.messages)


@dataclass(frozen=True, slots=True)
class Standing:
    """A group of the live conversation as the rule sees it."""

    rank: Rank
    tokens: int
    messages: int
    pinned: bool = False


def take(queue: Iterable[Standing], excess: Excess) -> list[Standing]:
    """Returns the first groups of `queue` that must go until nothing exceeds; all of them if that is not enough."""
    taken: list[Standing] = []
    for group in queue:
        if not excess:
            break
        taken.append(group)
        excess = excess.without(group)
    return taken


def kept_ends(conversation: Sequence[Standing], *, keep_first: int, keep_last: int) -> frozenset[int]:
    """Returns the numbers of the groups at either end of a conversation, oldest first, that a flush leaves alone."""
    ends = (*conversation[:keep_first], *conversation[max(keep_first, len(conversation) - keep_last) :])
    return frozenset(group.rank.group for group in ends)


def select_for_flush(
    conversation: Sequence[Standing], *, excess: Excess, force: bool, kept: frozenset[int]
) -> list[Standing]:
    """Returns the groups of the live conversation that a flush takes.

    Never taken: pinned groups and kept ones. A forced flush takes all others but the open ones; any other flush takes
    in the order of ranks until nothing exceeds its target.

    conversation: live groups, of one section or of all. excess: what they have above the target, with the system
    messages where the budget is common. force: take whatever may be taken. kept: see kept_ends.
    """
    may_go = (group for group in conversation if not group.pinned and group.rank.group not in kept)
    queue = sorted(may_go, key=lambda group: group.rank)
    return [group for group in queue if not group.rank.open] if force else take(queue, excess)


def blocked_by(conversation: Sequence[Standing], *, wanted: bool, system: bool, kept: frozenset[int]) -> FlushReason:
    """Returns why a flush of this conversation took nothing.

    conversation, kept: as in select_for_flush. wanted: the flush was forced, or something exceeds its target. system:
    there are system messages, which stay like pinned ones.
    """
    if wanted and any(not group.pinned and group.rank.group in kept for group in conversation):
        return "keep"
    if wanted and (system or any(group.pinned for group in conversation)):
        return "pinned"
    return "below_threshold"
