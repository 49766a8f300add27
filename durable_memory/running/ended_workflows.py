"""Settles what workflows owned, a moment after they have ended, where they do not wait for that themselves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

_log = logging.getLogger(__name__)

_PAUSES_SECONDS: Final = (0.05, 0.2, 1, 5)
"""A worker sees a run return before the server has closed it, which also may refuse to: a signal came in between."""

_AT_ONCE: Final = 8
_MOST: Final = 1_000


class EndedWorkflows:
    """The workflows that workers of one process saw end. Whatever goes wrong here, the janitor finds it later."""

    def __init__(self, settle: Callable[[str], Awaitable[bool]]) -> None:
        """settle: settles what the workflow of an id owned; False if it has not ended, as far as one can tell."""
        self._settle = settle
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._tasks = set[asyncio.Task[None]]()

    def note(self, workflow_id: str) -> None:
        """Settles, in the background, a workflow that ends about now."""
        if len(self._tasks) < _MOST:
            task = asyncio.create_task(self._until_settled(workflow_id))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    @asynccontextmanager
    async def settling(self) -> AsyncIterator[None]:
        """Settles as long as the context is open."""
        try:
            yield
        finally:
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)

    async def _until_settled(self, workflow_id: str) -> None:
        try:
            for pause in _PAUSES_SECONDS:
                await asyncio.sleep(pause)
                async with self._turns:
                    if await self._settle(workflow_id):
                        return
        except Exception as error:  # noqa: BLE001 - nobody waits for it
            _log.warning("what a workflow owned was not settled at its end (%s); the janitor settles it", error)
