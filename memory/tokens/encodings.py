"""Loads each encoding once in a process: lazily, from any thread, in the background, and again later if it failed."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

import tiktoken

from durable_memory.memory.tokens.ranks import load_encoding

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Load:
    """One attempt to load an encoding. awaited_at: when the first count began to wait for it."""

    done: Future[tiktoken.Encoding | None] = field(default_factory=Future)
    awaited_at: float | None = None


class Encodings:
    """The encodings of one process.

    A load runs in a daemon thread of its own: a download that hangs must block neither the event loop, nor a pool
    that others use, nor the end of the process. All that wait for one load share one wait: whoever comes after it goes
    on at once. After a failure the next load starts `retry_seconds` later at the earliest.
    """

    def __init__(
        self,
        load: Callable[[str], tiktoken.Encoding] = load_encoding,
        *,
        retry_seconds: float = 60.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._load = load
        self._retry_seconds = retry_seconds
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._loads: dict[str, _Load] = {}
        self._failed_at: dict[str, float] = {}

    def begin(self, name: str) -> None:
        """Begins to load the encoding, so that a later count finds it; waits for nothing."""
        self._current_load(name)

    async def get(self, name: str, wait_seconds: float) -> tiktoken.Encoding | None:
        """Returns the encoding; None if it cannot be had now.

        wait_seconds: how long its load is waited for, from the first call on that had to wait for this load.
        """
        load = self._current_load(name)
        if not load.done.done():
            await self._wait(load, wait_seconds)
        return load.done.result() if load.done.done() else None

    async def _wait(self, load: _Load, wait_seconds: float) -> None:
        now = self._monotonic()
        if load.awaited_at is None:
            load.awaited_at = now
        seconds_left = load.awaited_at + wait_seconds - now
        if seconds_left <= 0:
            return
        waiter = asyncio.wrap_future(load.done)
        try:
            await asyncio.wait((waiter,), timeout=seconds_left)
        finally:
            # A load may outlive the event loop; it must not report to it then.
            waiter.cancel()

    def _current_load(self, name: str) -> _Load:
        with self._lock:
            load = self._loads.get(name)
            if load is not None and not self._may_retry(name, load):
                return load
            load = self._loads[name] = _Load()
            load.done.set_running_or_notify_cancel()  # from here on no waiter can cancel it for the others
            self._failed_at.pop(name, None)
            threading.Thread(target=self._run, args=(name, load), name=f"load-{name}", daemon=True).start()
            return load

    def _may_retry(self, name: str, load: _Load) -> bool:
        failed_at = self._failed_at.get(name)
        return load.done.done() and failed_at is not None and self._monotonic() - failed_at >= self._retry_seconds

    def _run(self, name: str, load: _Load) -> None:
        try:
            encoding: tiktoken.Encoding | None = self._load(name)
        except BaseException as error:  # noqa: BLE001 - a download fails in many ways, a library in Rust by no Exception
            encoding = None
            self._failed_at[name] = self._monotonic()
            _log.warning(
                "token encoding %s could not be loaded (%s); tokens are estimated until a retry succeeds; "
                "pip install 'durable-memory[offline]' to have it without a network",
                name,
                type(error).__name__,
            )
        load.done.set_result(encoding)


SHARED: Final = Encodings()
"""What all counters of this process share: an encoding takes a quarter of a second and tens of megabytes."""
