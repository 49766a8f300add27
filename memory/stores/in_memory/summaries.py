"""The room of summaries: whether those that are there fit it, and which go where nobody makes them smaller."""

from __future__ import annotations

from collections.abc import Iterable

from durable_memory.memory.eviction.order import Excess
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.in_memory.values import Group, Tally
from durable_memory.memory.types import LONG_TERM


def summaries_over(summaries: Tally, fixed: Tally, limits: Limits) -> bool:
    """Tells whether summaries fill more than their room, since that was lowered.

    It is their share, or what is kept free for one. Where a memory drops and has some of before, it is what system and
    pinned messages (`fixed`) leave.
    """
    beside = Tally(limits.room_tokens or 0, limits.room_messages or 0) if limits.summarize else fixed
    return _too_large(summaries, beside, limits)


def summaries_leaving(summaries: Iterable[Group], beside: Tally, limits: Limits) -> list[Group]:
    """Returns the oldest summaries, which go so that the others fit beside so much. None where a memory summarises."""
    left = Tally()
    oldest_first = sorted(summaries, key=lambda group: group.number)
    for group in oldest_first:
        left.change(group.tokens, group.messages)
    leaving: list[Group] = []
    for group in () if limits.summarize else oldest_first:
        if not _too_large(left, beside, limits):
            break
        leaving.append(group)
        left.change(-group.tokens, -group.messages)
    return leaving


def _too_large(summaries: Tally, beside: Tally, limits: Limits) -> bool:
    share = limits.share_of(LONG_TERM)
    tokens = summaries.tokens + (beside.tokens if share is None else 0)
    most = limits.max_tokens if share is None else share
    return summaries.messages > 0 and bool(
        Excess.over(tokens, summaries.messages + beside.messages, most, limits.max_messages)
    )
