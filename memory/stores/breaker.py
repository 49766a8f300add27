"""The circuit breaker of a resource: a store that does not answer is left alone for a while, and callers told at once.

    closed ── max_failures in a row ──▶ open ── the first call after the reset time ──▶ half-open ── answered ──▶ closed
                                         ▲                                                  │
                                         └──────────────────── failed ──────────────────────┘

Only unavailability is a failure. A refusal, such as MemoryOversize, is an answer, also that of a store which refuses
writes and serves reads; a call that its caller cancelled is ignored. So is a failure of a call that ran while another
one was answered; of calls that fail side by side, one counts. One breaker serves all memories of a resource in one
process.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias, TypeVar

from durable_memory.memory import telemetry
from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.limits import BreakerLimits
from durable_memory.memory.stores.patience import Patience

_T = TypeVar("_T")

State: TypeAlias = Literal["closed", "open", "half_open"]


class Breaker:
    """Guards the calls of one resource. Belongs to one event loop."""

    def __init__(self, resource: str, limits: BreakerLimits, now: Callable[[], float] = time.monotonic) -> None:
        """Begins closed. now: seconds of a clock that never goes back."""
        self._resource = resource
        self._limits = limits
        self._now = now
        self._state: State = "closed"
        self._failures = 0
        self._opened = 0.0
        self._patience = Patience(limits.timeout_seconds)
        self._change = 0
        """Counts changes of state: the outcome of a call that began before the last change is ignored."""
        self._news = 0
        """Counts answers and counted failures: a failure of a call that began before the last of them is ignored."""

    @property
    def state(self) -> State:
        """Where it stands."""
        return self._state

    async def call(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Makes a call, if it may be made.

        Raises MemoryUnavailable if the breaker is open, the call took longer than its timeout, or the store raised it.
        """
        self._admit()
        began, news = self._change, self._news
        wait = self._patience()
        try:
            with wait:
                answer = await attempt()
        except TimeoutError:
            # What becomes of a write is unknown; its operation id makes it safe to send again.
            fault = self._timed_out(wait.told)
            self._unavailable(fault, began, news)
            raise fault from None
        except MemoryUnavailable as fault:
            self._unavailable(fault, began, news)
            raise
        except Exception:
            self._answered(began)
            raise
        except BaseException:  # cancelled, or closed while it waited
            self._abandoned(began)
            raise
        self._answered(began)
        return answer

    def _admit(self) -> None:
        if self._state == "closed":
            return
        wait = self._opened + self._limits.reset_seconds - self._now()
        if self._state == "open" and wait <= 0:
            self._enter("half_open")
            return
        telemetry.count_breaker_rejection(self._resource)
        when = f"the next call after {max(wait, 0):.1f} s tries it again" if wait > 0 else "a call is trying it now"
        raise MemoryUnavailable(
            f"{self._resource}: the circuit breaker is open, since {self._limits.max_failures} calls in a row got no "
            f"answer; {when}",
            retry_after_ms=max(1, round(wait * 1000)) if wait > 0 else None,
        )

    def _timed_out(self, told: MemoryUnavailable | None) -> MemoryUnavailable:
        within = f"within {self._limits.timeout_seconds * 1000:.0f} ms (persistence.circuit_breaker.timeout)"
        if told is None:
            return MemoryUnavailable(f"{self._resource}: the store did not answer {within}")
        what = f"{self._resource}: {told.message}; that did not pass {within}"
        return MemoryUnavailable(what, answered=told.answered)

    def _unavailable(self, fault: MemoryUnavailable, began: int, news: int) -> None:
        if fault.answered:
            self._answered(began)
        else:
            self._failed(began, news)

    def _answered(self, began: int) -> None:
        if began != self._change:
            return
        self._failures = 0
        self._news += 1
        if self._state == "half_open":
            self._enter("closed")

    def _failed(self, began: int, news: int) -> None:
        if began != self._change or news != self._news:
            return
        self._failures += 1
        self._news += 1
        if self._state == "half_open" or self._failures >= self._limits.max_failures:
            self._opened = self._now()
            self._enter("open")

    def _abandoned(self, began: int) -> None:
        """Opens again if the abandoned call was the one that tried the store: the next call tries it instead."""
        if began == self._change and self._state == "half_open":
            self._enter("open")

    def _enter(self, state: State) -> None:
        self._state = state
        self._failures = 0
        self._change += 1
        telemetry.count_breaker_change(self._resource, state)
