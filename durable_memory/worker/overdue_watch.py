"""Watches whether flushes of the project are overdue: what should summarise does not, and appends will be held back."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Final

from durable_memory.memory import telemetry
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import MemoryFault
from durable_memory.memory.overdue import overdue_memories
from durable_memory.memory.stores.backend import Backend
from durable_memory.running.repeating import repeating

_log = logging.getLogger(__name__)
_EVERY: Final = timedelta(minutes=1)
_PAGES: Final = 10
"""Pages of memories that are looked at each time; the next look goes on behind them."""


class OverdueFlushes:
    """What the worker knows of overdue flushes; asks no more than a thousand memories a minute."""

    def __init__(self, backend: Backend, project: str, registry: Callable[[], Registry]) -> None:
        """registry: returns the declarations in force."""
        self._backend = backend
        self._project = project
        self._registry = registry
        self._cursor: str | None = None
        self._found = Counter[str]()
        self._seen = Counter[str]()
        """Overdue flushes of each resource: `_found` in the round so far, `_seen` in the last whole one."""

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on overdue flushes, if there are any."""
        flushes = self._seen.total()
        if not flushes:
            return ()
        what = "1 flush is" if flushes == 1 else f"{flushes:,} flushes are"
        return (f"{what} overdue: see the health of these memories, and whether all workers of the project run",)

    def watched(self, every: timedelta = _EVERY) -> AbstractAsyncContextManager[None]:
        """Looks again and again as long as the context is open."""
        return repeating(lambda: self._look_and_wait(every), "the look for overdue flushes", pause=every)

    async def look(self) -> None:
        """Looks at the next memories; at the end of a round, tells what it found: the log once, and the gauge."""
        for _ in range(_PAGES):
            page = await overdue_memories(self._backend, self._project, self._registry(), self._cursor)
            self._found.update(memory.resource for memory in page.memories)
            self._cursor = page.cursor
            if self._cursor is None:
                before, self._seen, self._found = self._seen, self._found, Counter()
                for resource in {declared.id for declared in self._registry().memories()} | before.keys():
                    telemetry.record_overdue(resource, self._seen[resource])
                if self._seen and not before:
                    _log.warning("%s", *self.notes)
                elif before and not self._seen:
                    _log.info("no flush is overdue any more")
                return

    async def _look_and_wait(self, every: timedelta) -> None:
        try:
            await self.look()
        except MemoryFault as fault:
            _log.debug("overdue flushes could not be looked for: %s", fault.message)
        await asyncio.sleep(every.total_seconds())
