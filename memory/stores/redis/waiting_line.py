"""The line before one server: calls for which there is no connection more wait, and see whether it moves."""

from __future__ import annotations

import asyncio
from typing import Final

from durable_memory.memory.stores.patience import current_wait

MAX_CONNECTIONS: Final = 64
"""Of a process to one server."""


class WaitingLine:
    """Lets as many calls at a time pass as there may be connections: `async with line:`.

    places: how many. answers: how often the server answered. answered_at: when it did last, by the event loop.
    """

    __slots__ = ("_slots", "answered_at", "answers", "places")

    def __init__(self) -> None:
        self.places = MAX_CONNECTIONS
        self._slots = asyncio.Semaphore(self.places)
        self.answers = 0
        self.answered_at = 0.0

    def is_full(self) -> bool:
        """Tells whether the next call has to wait."""
        return self._slots.locked()

    async def __aenter__(self) -> None:
        wait = current_wait()
        if wait is not None and self._slots.locked():
            wait.wait_in_line(lambda: self.answers)
        await self._slots.acquire()
        if wait is not None:
            wait.take_turn()

    async def __aexit__(self, *_: object) -> None:
        self._slots.release()

    def note_answer(self) -> None:
        """Notes that the server has answered, if only with an error."""
        self.answers += 1
        self.answered_at = asyncio.get_running_loop().time()
