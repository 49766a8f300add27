"""How long a guarded call waits for its store: only time in which the store was asked, and this process listened.

A timer that is late says that its event loop is busy, not that the store is silent. So the time is counted in slices:
each counts once, however late it ends, and only when the loop has taken in what arrived meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Final, Self

_SLICES: Final = 5
"""More of them see a busy loop better, and make a call of a process that is short of its core wait longer."""

_TURNS: Final = 8
"""Turns of the event loop at the end of each slice. To connect and to be answered takes about ten."""

_current: ContextVar[Patience | None] = ContextVar("durable_memory_patience", default=None)


class Patience:
    """A limit on the time that a block waits for a store, as an async context manager; TimeoutError where it ends.

    The block's driver finds it with `current_patience`, and tells it when the store is not what is waited for.
    """

    def __init__(self, seconds: float) -> None:
        self._slice = seconds / _SLICES
        self._left = _SLICES
        self._turns = _TURNS
        self._limit = asyncio.timeout(None)
        self._progress: Callable[[], int] | None = None
        self._seen = 0
        self._connected = False

    async def __aenter__(self) -> Self:
        await self._limit.__aenter__()
        self._token: Token[Patience | None] = _current.set(self)
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.Handle = self._loop.call_later(self._slice, self._take_in)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        _current.reset(self._token)
        await self._limit.__aexit__(kind, error, trace)

    def wait_in_line(self, answers: Callable[[], int]) -> None:
        """The block waits for other calls to end: while these are answered, no time is counted.

        answers: how many answers the store gave so far, to anybody.
        """
        self._progress, self._seen = answers, answers()

    def take_turn(self) -> None:
        """The block waits for the store again."""
        self._progress = None

    def connected(self) -> None:
        """A connection was made, so that the store did answer: the time begins anew, once in a block."""
        if not self._connected:
            self._connected, self._left = True, _SLICES

    def _take_in(self) -> None:
        """Lets the loop turn some times: at once where it has nothing to do."""
        if self._turns > 0:
            self._turns -= 1
            self._timer = self._loop.call_soon(self._take_in)
            return
        self._turns = _TURNS
        self._left -= 1
        if self._progress is not None and self._progress() != self._seen:
            self._seen, self._left = self._progress(), _SLICES
        if self._left > 0:
            self._timer = self._loop.call_later(self._slice, self._take_in)
        else:
            self._limit.reschedule(self._loop.time())


def current_patience() -> Patience | None:
    """Returns what limits the running call; None where no breaker guards it."""
    return _current.get()
