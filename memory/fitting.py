"""Reads a memory so that what is made of the view fits: names, labels and marks of quotation cost tokens beside it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from durable_memory.memory.types import SYSTEM, View

_ATTEMPTS: Final = 8
"""How often a memory is read: others may append meanwhile."""

_Shown = TypeVar("_Shown")


async def read_to_fit(
    read: Callable[[int | None], Awaitable[View]],
    show: Callable[[View], Awaitable[tuple[_Shown, int]]],
    limit: int | None,
) -> _Shown | None:
    """Returns what is made of a view, in at most `limit` tokens; None if that is not to be had.

    read: reads the memory in so many tokens at most. show: makes of a view what is wanted, and counts it. Raises what
    these two raise.
    """
    asked = limit
    for _ in range(_ATTEMPTS):
        view = await read(asked)
        shown, tokens = await show(view)
        if limit is None or asked is None or tokens <= limit:
            return shown
        least = never_cut(view)
        if asked <= least:
            return None
        # What leaves the view takes what it costs beside along, so this much less is always enough.
        asked = max(least, min(asked, view.tokens) - (tokens - limit))
    return None


def never_cut(view: View) -> int:
    """Returns the tokens that a read shows whatever it may spend. A read that may spend less is refused."""
    return sum(message.tokens or 0 for message in view.messages if message.pinned or message.section == SYSTEM)
