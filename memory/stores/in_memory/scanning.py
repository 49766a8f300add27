"""Pages of all that a memory holds, in whole groups: the summaries first, then all else."""

from __future__ import annotations

from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.in_memory.values import OVERFLOW
from durable_memory.memory.stores.values import ScanPage, StoredEntry
from durable_memory.memory.types import LONG_TERM


def scan_page(state: MemoryState, cursor: str | None, count: int) -> ScanPage:
    """Returns a page; see Store.scan."""
    stage, _, after = (cursor or "s:0").partition(":")
    groups = sorted(
        (
            (number, group, place)
            for place, held in state.groups.items()
            if (place == LONG_TERM) == (stage == "s")
            for number, group in held.items()
            if number > int(after)
        ),
        key=lambda one: one[0],
    )
    entries: list[tuple[StoredEntry, bool]] = []
    for position, (number, group, place) in enumerate(groups, 1):
        entries += [(entry, place == OVERFLOW) for _, entry in sorted(group.entries.items())]
        if len(entries) >= count and position < len(groups):
            return ScanPage(tuple(entries), state.incarnation, f"{stage}:{number}")
    return ScanPage(tuple(entries), state.incarnation, "r:0" if stage == "s" else None)
