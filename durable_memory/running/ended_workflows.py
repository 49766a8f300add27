"""Settles what workflows owned, a moment after they have ended, where they do not wait for that themselves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from durable_memory.memory.errors import MemoryFault, MemoryUnavailable, type_of

_log = logging.getLogger(__name__)

_PAUSES_SECONDS: Final = (0.05, 0.2, 1, 5)
"""A worker sees a run return before the server has closed it, which also may refuse to: a signal came in between."""

_AT_ONCE: Final = 8
_MOST: Final = 1_000
_CLOSE_SECONDS: Final = 5


class EndedWorkflows:
    """The workflows that workers of one process saw end. Whatever goes wrong here, the janitor finds it later."""

    def __init__(self, settle: Callable[[str], Awaitable[bool]]) -> None:
        """settle: settles what the workflow of an id owned; False if it has not ended, as far as one can tell."""
        self._settle = settle
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._tasks = set[asyncio.Task[None]]()
        self._closing = asyncio.Event()

    def note(self, workflow_id: str) -> None:
        """Settles, in the background, a workflow that ends about now."""
        if len(self._tasks) < _MOST and not self._closing.is_set():
            task = asyncio.create_task(self._until_settled(workflow_id))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    @asynccontextmanager
    async def settling(self) -> AsyncIterator[None]:
        """Settles as long as the context is open, and what has begun by then to its end.

        A memory that is cleared while its owner stays would be cleared again, with what others append meanwhile.
        """
        try:
            yield
        finally:
            self._closing.set()
            if self._tasks:
                _, late = await asyncio.wait(self._tasks, timeout=_CLOSE_SECONDS)
                for task in late:
                    task.cancel()
                await asyncio.gather(*late, return_exceptions=True)

    async def _until_settled(self, workflow_id: str) -> None:
        try:
            for pause in _PAUSES_SECONDS:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), pause)
                async with self._turns:
                    if self._closing.is_set() or await self._is_settled(workflow_id):
                        return
        except Exception as error:  # noqa: BLE001 - nobody waits for it
            # The texts of others' errors may hold content.
            reason = error.message if isinstance(error, MemoryFault) else type_of(error)
            _log.warning("what a workflow owned was not settled at its end (%s); the janitor settles it", reason)

    async def _is_settled(self, workflow_id: str) -> bool:
        with suppress(MemoryUnavailable):
            return await self._settle(workflow_id)
        return False
