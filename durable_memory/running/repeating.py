"""Work that goes on beside the real one, turn by turn: whatever goes wrong in one is logged, and the next one comes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

_log = logging.getLogger(__name__)


@asynccontextmanager
async def repeating(turn: Callable[[], Awaitable[object]], what: str, *, pause: timedelta) -> AsyncIterator[None]:
    """Takes turn after turn as long as the context is open. A turn waits itself for what it has to wait for.

    what: names the work in the log of a turn that failed. pause: before the turn after that one.
    """
    going_on = asyncio.create_task(_go_on(turn, what, pause))
    try:
        yield
    finally:
        going_on.cancel()
        await asyncio.wait([going_on])  # not `await going_on`: a cancellation of this task would pass for that one


async def _go_on(turn: Callable[[], Awaitable[object]], what: str, pause: timedelta) -> None:
    while True:
        try:
            await turn()
        except Exception:  # noqa: BLE001 - what a turn did not foresee must not end the watch unseen
            _log.exception("%s failed; it is tried again", what)
            await asyncio.sleep(pause.total_seconds())
