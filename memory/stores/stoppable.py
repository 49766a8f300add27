"""A block that can be stopped from outside: what asyncio.timeout does, without its timer."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self


class Stoppable:
    """`with block:` raises TimeoutError at its end if it was stopped; what somebody else cancels stays cancelled.

    To be entered once, inside a task.
    """

    __slots__ = ("_cancelling", "_stopped", "_task")

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a time limit holds inside a task")
        self._task = task
        self._cancelling = task.cancelling()
        self._stopped = False
        return self

    def stop(self) -> None:
        """Cancels what the block waits for."""
        if not self._stopped:
            self._stopped = True
            self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._stopped and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error
