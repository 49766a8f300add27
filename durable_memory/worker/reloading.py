"""Reads the declarations of a running worker again: when their files change, and at SIGHUP."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.watching import Changes, Watch
from durable_memory.memory.errors import InvalidDeclarations, MemoryInvalid

_log = logging.getLogger(__name__)
_MAX_LOGGED_FAULTS = 20


@asynccontextmanager
async def reloading(
    watch: Watch, accept: Callable[[Registry], None], interval: timedelta | None
) -> AsyncIterator[None]:
    """Keeps the declarations up to date as long as the context is open.

    accept: puts them in force, or raises MemoryInvalid. interval: how often the files are looked at; None is never.
    """
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()
    loop.add_signal_handler(signal.SIGHUP, asked.set)
    working = asyncio.create_task(_work(watch, accept, asked, interval))
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGHUP)
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await working


async def _work(
    watch: Watch, accept: Callable[[Registry], None], asked: asyncio.Event, interval: timedelta | None
) -> None:
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if interval is None else interval.total_seconds()):
                await asked.wait()
        if not asked.is_set() and not await asyncio.to_thread(watch.is_due):
            continue
        asked.clear()
        try:
            _tell(await watch.reload(accept))
        except InvalidDeclarations as invalid:
            _log.error("faults in the declarations: %d; the last good ones stay in force", len(invalid.faults))
            for fault in invalid.faults[:_MAX_LOGGED_FAULTS]:
                _log.error("%s", fault)
        except MemoryInvalid as refused:
            _log.error("the last good declarations stay in force: %s", refused.message)
        except Exception:  # noqa: BLE001 - whatever is wrong with the files, the worker goes on
            _log.exception("the declarations could not be read again; the last good ones stay in force")


def _tell(changes: Changes) -> None:
    parts = (("added", changes.added), ("changed", changes.changed), ("removed", changes.removed))
    told = "; ".join(f"{word}: {', '.join(names)}" for word, names in parts if names)
    kept = "; what was stored stays" if changes.removed else ""
    _log.info("the declarations were read again; %s%s", told or "nothing has changed", kept)
