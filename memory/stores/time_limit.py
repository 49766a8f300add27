"""One time limit for many calls, with one timer for all of them instead of one for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

from durable_memory.memory.stores.stoppable import Stoppable


class TimeLimit:
    """Ends calls that take longer than so many seconds: `with limit():` raises TimeoutError then.

    Belongs to one event loop. A timer for each call would be a tenth of the work of an append.
    """

    def __init__(self, seconds: float, answered_at: Callable[[], float] | None = None) -> None:
        """answered_at: when anybody was answered last, by the loop's clock; no call ends within `seconds` of it."""
        self._seconds = seconds
        self._answered_at = answered_at
        self._calls: dict[_Call, None] = {}
        """Those that go on, the oldest first."""
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self) -> _Call:
        """Returns the limit of one call, to be entered at once and once."""
        return _Call(self)

    def begin(self, call: _Call) -> None:
        """Lets the time of a call run."""
        loop = asyncio.get_running_loop()
        call.ends_at = loop.time() + self._seconds
        self._calls[call] = None
        if self._timer is None:
            self._timer = loop.call_at(call.ends_at, self._look)

    def end(self, call: _Call) -> None:
        """Forgets a call. The timer stays, for the next ones."""
        del self._calls[call]

    def _look(self) -> None:
        """Stops the calls whose time is over, and looks again when that of the next one will be."""
        loop = asyncio.get_running_loop()
        self._timer = None
        silent_at = 0.0 if self._answered_at is None else self._answered_at() + self._seconds
        if silent_at > loop.time():
            self._timer = loop.call_at(silent_at, self._look)
            return
        for call in self._calls:
            if call.ends_at > loop.time():
                self._timer = loop.call_at(call.ends_at, self._look)
                return
            call.stop()


class _Call(Stoppable):
    __slots__ = ("_limit", "ends_at")

    def __init__(self, limit: TimeLimit) -> None:
        self._limit = limit
        self.ends_at = 0.0

    def __enter__(self) -> Self:
        super().__enter__()
        self._limit.begin(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._limit.end(self)
        super().__exit__(kind, error, traceback)
