"""What a memory holds by role, author, section or day: counted in a scan that ends after so many messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC
from typing import Final

from durable_memory.memory.arguments import one_of
from durable_memory.memory.codec import decode
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.stores.port import Store
from durable_memory.memory.types import GroupBy, MemoryStats, Message, StatsGroup

MAX_SCANNED: Final = 10_000
"""Messages that are looked at, so that one call on a huge memory stays short."""

_PAGE: Final = 500
_NAMES: Final[Mapping[GroupBy, Callable[[Message, bool], str]]] = {
    "role": lambda message, _: message.role,
    "author": lambda message, _: message.agent or "",
    "section": lambda message, waiting: "waiting" if waiting else message.section or "",
    "day": lambda message, _: "" if message.created_at is None else f"{message.created_at.astimezone(UTC):%Y-%m-%d}",
}


def checked_group_by(group_by: object) -> GroupBy:
    """Returns how to group. Raises MemoryInvalid."""
    return one_of("group_by", group_by, _NAMES)


async def grouped(store: Store, memory: MemoryId, stats: MemoryStats, group_by: GroupBy) -> MemoryStats:
    """Returns the counters with groups of what is held, live or waiting: those with most tokens first."""
    counts: dict[str, StatsGroup] = {}
    cursor: str | None = None
    scanned = 0
    while True:
        page = await store.scan(memory, cursor, min(_PAGE, MAX_SCANNED - scanned))
        for entry, waiting in page.entries:
            name = _NAMES[group_by](decode(entry), waiting)
            known = counts.get(name, StatsGroup(name, 0, 0))
            counts[name] = StatsGroup(name, known.messages + 1, known.tokens + entry.tokens)
        scanned += len(page.entries)
        cursor = page.cursor
        if cursor is None or scanned >= MAX_SCANNED:
            groups = sorted(counts.values(), key=lambda group: (-group.tokens, group.name))
            return replace(stats, groups=tuple(groups), groups_complete=cursor is None)
