"""What the janitor does and counts, one visit after the other."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeVar

from durable_memory.memory import telemetry
from durable_memory.memory.bounded import for_each
from durable_memory.memory.errors import MemoryFault

_log = logging.getLogger(__name__)
_AT_ONCE: Final = 8

ACTIONS: Final = ("released", "cleared", "flushed", "kept", "woken", "forgotten", "unknown", "failed")
"""What the janitor does.

Owners are released. Memories are cleared, flushed or kept at the end of their last owner, woken where a flush is due,
forgotten where they are gone. Of unknown owners it could not be told whether they go on; what failed is tried again by
the next sweep.
"""

_Item = TypeVar("_Item")


def report(counts: Counter[str]) -> None:
    """Adds what was done to the metrics."""
    for action in ACTIONS:
        telemetry.count_janitor(action, counts[action])


async def visit_each(items: Iterable[_Item], visit: Callable[[_Item], Awaitable[None]], counts: Counter[str]) -> None:
    """Visits a few at a time; the failure of one does not keep the others from their turn."""

    async def one(item: _Item) -> None:
        try:
            await visit(item)
        except MemoryFault as fault:
            note_failure(fault, counts)

    await for_each(items, one, at_once=_AT_ONCE)


def note_failure(fault: MemoryFault, counts: Counter[str]) -> None:
    """Counts and logs what could not be done."""
    counts["failed"] += 1
    _log.warning("the janitor could not finish its work on an owner or memory: %s", fault.message)
