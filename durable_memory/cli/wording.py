"""Numbers, sizes, moments and outcomes in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from durable_memory.memory.types import FlushOutcome, FlushReason

REPEATED: Final = "this operation id was applied before; nothing changed"

FLUSH_REASONS: Final[Mapping[FlushOutcome | FlushReason, str]] = {
    "gone": "there is no such memory, or no longer",
    "stale": "the memory was cleared, expired or replaced meanwhile; nothing was written",
    "busy": (
        "another flush is at work, or waits for its next attempt; or the last one failed a moment ago, which --force "
        "ignores"
    ),
    "below_threshold": "below the threshold; --force flushes anyway",
    "pinned": "system and pinned messages are all there is",
    "keep": "keep_first and keep_last keep all there is",
    "max_messages": "the next group alone has more messages than --max-messages",
}

_LISTED_IDS: Final = 5
_UNITS: Final = ((86_400, 3_600, "d"), (3_600, 60, "h"), (60, 1, "m"))
"""Seconds of a unit and of the next smaller one: what rounds to a whole unit is said in it."""


def counted(number: int, unit: str) -> str:
    """Returns a number with its unit, which is given in the singular."""
    if number == 1:
        return f"1 {unit}"
    return f"{number:,} {unit[:-1]}ies" if unit.endswith("ry") else f"{number:,} {unit}s"


def size_of(messages: int, tokens: int) -> str:
    """Returns how much there is of both."""
    return f"{counted(messages, 'message')}, {counted(tokens, 'token')}"


def ids_of(ids: Sequence[str]) -> str:
    """Returns ids below each other; of many, the first and the last."""
    return "\n".join(ids) if len(ids) <= _LISTED_IDS else f"{ids[0]} to {ids[-1]}"


def clock_time(moment: datetime | None) -> str:
    """Returns a time of the clock on this machine, with its zone: problems of `health` are in UTC. Of none, nothing."""
    return "" if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def from_now(moment: datetime | None, now: datetime) -> str:
    """Returns how far a moment is; of none, nothing."""
    if moment is None:
        return ""
    seconds = abs((moment - now).total_seconds())
    size, unit = next(((size, unit) for size, smaller, unit in _UNITS if seconds >= size - smaller / 2), (1, "s"))
    distance = f"{round(seconds / size)}{unit}"
    return f"in {distance}" if moment > now else f"{distance} ago"
