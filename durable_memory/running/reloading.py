"""Reads the declarations of running workers again: when their files change, and when somebody asks for it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.watching import Changes, Watch
from durable_memory.memory.errors import InvalidDeclarations, MemoryInvalid
from durable_memory.running.repeating import repeating

_log = logging.getLogger(__name__)
_AFTER_ERROR = timedelta(minutes=1)
_AGAIN_SECONDS = 300
"""How often what is not in force is tried again, and counted: an alert on it lasts as long as it does."""
_MAX_LOGGED_FAULTS = 20
_KEPT = "the last good declarations stay in force"


class Reloading:
    """Keeps declarations up to date.

    notes: why files that were read last are not in force, for /readyz; empty if they are.
    """

    def __init__(self, watch: Watch, accept: Callable[[Registry], None], interval: timedelta | None) -> None:
        """accept: puts them in force, or raises MemoryInvalid. interval: how often files are looked at; None: never."""
        self._watch = watch
        self._accept = accept
        self._interval = interval
        self.notes: tuple[str, ...] = ()
        self._told: tuple[str, ...] = ()
        self._tried_at = 0.0

    def watched(self, asked: asyncio.Event | None = None) -> AbstractAsyncContextManager[None]:
        """Reads them again as long as the context is open. asked: is set by whoever wants it at once."""
        asked = asked or asyncio.Event()
        is_due = self._watch.looking()
        pause = self._interval or _AFTER_ERROR
        return repeating(lambda: self._look(asked, is_due), "the look whether declarations have changed", pause=pause)

    async def _look(self, asked: asyncio.Event, is_due: Callable[[], bool]) -> None:
        pause = None if self._interval is None else self._interval.total_seconds()
        if pause is not None and self.notes:
            pause = min(pause, _AGAIN_SECONDS)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await asked.wait()
        if asked.is_set() or await asyncio.to_thread(is_due):
            asked.clear()
            self._told = ()
            await self._reload()
        elif self.notes and time.monotonic() - self._tried_at >= _AGAIN_SECONDS:
            await self._reload()

    async def _reload(self) -> None:
        try:
            _tell(await self._watch.reload(self._accept))
            self.notes = self._told = ()
        except InvalidDeclarations as invalid:
            faults = map(str, invalid.faults[:_MAX_LOGGED_FAULTS])
            self._keep(f"faults in the declarations: {len(invalid.faults)}; {_KEPT}", *faults)
        except MemoryInvalid as refused:
            self._keep(f"{_KEPT}: {refused.message}")
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the files, the worker goes on
            self._keep(f"the declarations could not be read again; {_KEPT}", error=error)

    def _keep(self, why: str, *faults: str, error: Exception | None = None) -> None:
        """Notes why the old ones stay, and logs it unless that was told when the same files were tried before."""
        self.notes, self._tried_at = (why,), time.monotonic()
        told = (why, *faults, repr(error))
        if self._told == told:
            return
        self._told = told
        _log.error("%s", why, exc_info=error)
        for fault in faults:
            _log.error("%s", fault)


def _tell(changes: Changes) -> None:
    parts = (("added", changes.added), ("changed", changes.changed), ("removed", changes.removed))
    told = "; ".join(f"{word}: {', '.join(names)}" for word, names in parts if names)
    kept = "; what was stored stays" if changes.removed else ""
    _log.info("the declarations were read again; %s%s", told or "nothing has changed", kept)
