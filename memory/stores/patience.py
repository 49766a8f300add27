"""Time limits of guarded calls, which count only time in which the store was asked and this process could listen.

A timer that fires late shows that the event loop is busy, not that the store is silent. So time is counted in slices:
each counts once, however late it ends, and only after the loop has taken in what arrived meanwhile. All calls share the
slices, since a timer for each call would cost more than all else that a breaker does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Final, Self

from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.stores.stoppable import Stoppable

_SLICES: Final = 5
"""More slices notice a busy loop better, but let calls wait longer in a process that gets little of its core."""

_TURNS: Final = 8
"""Turns of the event loop at the end of each slice. To connect and to be answered takes about ten."""

_current: ContextVar[Wait | None] = ContextVar("durable_memory_wait", default=None)


class Patience:
    """Ends calls that wait longer than so many seconds: `with patience():` raises TimeoutError then.

    A call begins within a slice, which does not count: it ends up to a fifth of the time later. Belongs to one event
    loop.
    """

    def __init__(self, seconds: float) -> None:
        self._slice = seconds / _SLICES
        self._waits: dict[Wait, None] = {}
        self._turns = _TURNS
        self._counts = False

    def __call__(self) -> Wait:
        """Returns the wait of one call, to be entered at once and once."""
        return Wait(self)

    def begin(self, wait: Wait) -> None:
        """Lets the time of a call run."""
        self._waits[wait] = None
        if not self._counts:
            self._counts = True
            asyncio.get_running_loop().call_later(self._slice, self._take_in)

    def end(self, wait: Wait) -> None:
        """Forgets a call. The slice goes on, for the next ones."""
        del self._waits[wait]

    def _take_in(self) -> None:
        """Lets the loop turn some times, at once where it has nothing to do, and counts the slice then."""
        loop = asyncio.get_running_loop()
        if self._turns > 0:
            self._turns -= 1
            loop.call_soon(self._take_in)
            return
        self._turns = _TURNS
        for wait in self._waits:
            wait.count_slice()
        self._counts = bool(self._waits)
        if self._counts:
            loop.call_later(self._slice, self._take_in)


class Wait(Stoppable):
    """The wait of one call.

    Its driver finds it with `current_wait`, and tells it when the store is not what is waited for.
    """

    __slots__ = ("_connected", "_left", "_patience", "_progress", "_seen", "_silent", "_token", "told")

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._left = _SLICES + 1
        self._progress: Callable[[], int] | None = None
        self._seen = 0
        self._connected = False
        self.told: MemoryUnavailable | None = None
        """What the last attempt met, which the call may wait to pass; None if none has failed, or another is silent."""
        self._silent: int | None = None
        """How many slices ended while the attempt is under way; None between attempts."""

    def __enter__(self) -> Self:
        super().__enter__()
        self._token: Token[Wait | None] = _current.set(self)
        self._patience.begin(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._patience.end(self)
        _current.reset(self._token)
        super().__exit__(kind, error, traceback)

    def wait_in_line(self, answers: Callable[[], int]) -> None:
        """The call waits for others to end: while these are answered, no time is counted.

        answers: how many answers the store gave so far, to anybody.
        """
        self._progress, self._seen = answers, answers()

    def take_turn(self) -> None:
        """The call waits for the store again."""
        self._progress = None

    def connected(self) -> None:
        """A connection was made, so that the store did answer: the time begins anew, once in a call."""
        if not self._connected:
            self._connected, self._left = True, _SLICES + 1

    def asks(self) -> None:
        """An attempt begins, maybe in line. What the one before it met holds until this one is silent for a slice."""
        self._silent = 0

    def tell(self, met: MemoryUnavailable) -> None:
        """The attempt met this, and another one follows."""
        self.told, self._silent = met, None

    def count_slice(self) -> None:
        """Counts a slice that is over, and stops the call with the last one."""
        if self._silent is not None:
            self._silent += 1
            if self._silent > 1:  # the first one may have ended at once
                self.told = None
        self._left -= 1
        if self._progress is not None and self._progress() != self._seen:
            self._seen, self._left = self._progress(), _SLICES + 1
        if self._left <= 0:
            self.stop()


def current_wait() -> Wait | None:
    """Returns the wait of the running call; None where no breaker guards it."""
    return _current.get()
