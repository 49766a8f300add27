"""Writes what memories hold as JSON lines, a page at a time."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Final

from durable_memory.memory.clock import Clock
from durable_memory.memory.codec import decode
from durable_memory.memory.errors import MemoryConflict
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.inventory import Inventory
from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.values import ScanPage
from durable_memory.memory.transfer.lines import Header, header_line, last_line, message_line
from durable_memory.memory.types import LONG_TERM

_PAGE: Final = 200


async def export_lines(resource: str, inventory: Inventory, key: str | None, clock: Clock) -> AsyncIterator[str]:
    """Yields the lines of an export. key: only the memory of this key.

    Raises MemoryConflict if a memory is cleared or restored while it is written: its lines would mix two incarnations.
    """
    yield header_line(Header(resource, secrets.token_hex(8)), datetime.fromtimestamp(clock.now_ms() / 1000, UTC))
    messages = 0
    async for place, memory in inventory.memories():
        if key is None or memory.key == key:
            async for line in _memory_lines(place.store, memory):
                messages += 1
                yield line
    yield last_line(messages)


async def _memory_lines(store: Store, memory: MemoryId) -> AsyncIterator[str]:
    incarnation: str | None = None
    summaries: set[str] = set()
    async for page in _pages(store, memory):
        incarnation = page.incarnation
        for entry, waiting in page.entries:
            if entry.section == LONG_TERM:
                summaries.add(entry.id)
            yield message_line(memory.key, decode(entry), waiting=waiting)
    # What was summarised before its page came stands in summaries that came after theirs.
    async for page in _pages(store, memory, incarnation):
        later = [entry for entry, _ in page.entries if entry.section == LONG_TERM]
        for entry in later:
            if entry.id not in summaries:
                yield message_line(memory.key, decode(entry), waiting=False)
        if not later:
            return


async def _pages(store: Store, memory: MemoryId, incarnation: str | None = None) -> AsyncIterator[ScanPage]:
    """Yields the pages of all that a memory holds, summaries first. incarnation: which one they must be of."""
    cursor: str | None = None
    while True:
        page = await store.scan(memory, cursor, _PAGE)
        if incarnation not in (None, page.incarnation):
            raise MemoryConflict(
                f"{memory.resource}: a memory was cleared or ended while it was exported; export again"
            )
        incarnation = page.incarnation
        yield page
        if page.cursor is None:
            return
        cursor = page.cursor
