"""The clock as a port, so that tests can move time."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now_ms(self) -> int:
        """Returns milliseconds since the Unix epoch."""
        ...


class SystemClock:
    """The time of this machine."""

    def now_ms(self) -> int:
        """See Clock."""
        return time.time_ns() // 1_000_000


class ManualClock:
    """A clock that stands still until it is moved: for tests."""

    def __init__(self, now_ms: int = 1_800_000_000_000) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        """See Clock."""
        return self._now_ms

    def advance(self, *, ms: int = 0, seconds: float = 0) -> None:
        """Moves the time forward."""
        self._now_ms += ms + round(seconds * 1000)
