"""Until when the calls of an activity attempt are accepted: a repetition must come while its first call is remembered.

All attempts of an activity have one deadline. What any of them applied is remembered until then, and for a minute more.
A call that comes later may repeat one that is forgotten by now, so it is refused (R2 of docs/protocol.md).
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from temporalio import activity

from durable_memory.memory.caller import GIVEN_ID_LIFETIME_MS
from durable_memory.memory.client_parts import ClientParts
from durable_memory.memory.stores.values import KEPT_AFTER_DEADLINE_MS

LIFETIME_MS = GIVEN_ID_LIFETIME_MS
"""From the time at which an activity was scheduled to its deadline; if it started late, from its first start."""

LATE_MS = LIFETIME_MS // 2
"""An attempt that starts so long after its activity was scheduled is late: little time would be left for others."""

CLOCKS_DIFFER_MS = KEPT_AFTER_DEADLINE_MS // 2
"""By how much the clocks of this process and of Redis may differ when an attempt goes on after its deadline."""


class ActivityDeadline:
    """The deadline of one attempt.

    An attempt that starts in time counts from the time at which the activity was scheduled. One that starts late asks
    the store from when to count, since all attempts must count from the same time. The first attempt proposes its own
    start, as nothing was applied before it; any other one proposes the scheduled time, as it knows neither when the
    first one started nor what that has applied. The proposal that comes first stands.

    A first attempt that is still running at its deadline goes on if Temporal has started no other: any attempt that
    could repeat its calls will start after the deadline, and be refused.
    """

    def __init__(
        self, info: activity.Info, name: str, parts: ClientParts, is_running: Callable[[], Awaitable[bool]]
    ) -> None:
        """name: the same for all attempts alone. is_running: whether this is the attempt that Temporal waits for."""
        self._name = name
        self._parts = parts
        self._is_running = is_running
        self._info = info
        self._end_ms: float = math.inf
        """When Temporal gives the activity up."""
        if info.schedule_to_close_timeout:
            self._end_ms = _ms(info.scheduled_time + info.schedule_to_close_timeout)
        # Its number alone does not tell: when an operator resets an activity, attempts count from 1 again, and so they
        # do where the worker of a local activity died.
        self._is_first = (
            info.attempt == 1 and info.current_attempt_scheduled_time == info.scheduled_time and not info.is_local
        )
        self._is_alone = False
        self.is_late = info.started_time - info.scheduled_time > timedelta(milliseconds=LATE_MS)
        self._deadline_ms: int | None = None if self.is_late else self._counted_from(_ms(info.scheduled_time))

    def of_next_call(self) -> int | Callable[[], Awaitable[int]]:
        """Returns the deadline of the next call, as Attempt takes it."""
        if self._deadline_ms is None or self._is_over_soon(self._deadline_ms):
            return self._at_a_call
        return self._deadline_ms

    async def find_out(self) -> int:
        """Returns the deadline; an attempt that started late asks the store for it. Raises MemoryUnavailable."""
        if self._deadline_ms is None:
            counted_from_ms = _ms(self._info.started_time if self._is_first else self._info.scheduled_time)
            starts = self._parts.starts
            if starts is not None:
                counted_from_ms = await starts.first(
                    self._parts.project, self._name, counted_from_ms, LIFETIME_MS + KEPT_AFTER_DEADLINE_MS
                )
            self._deadline_ms = self._counted_from(counted_from_ms)
        return self._deadline_ms

    async def _at_a_call(self) -> int:
        deadline_ms = await self.find_out()
        if not self._is_over_soon(deadline_ms):
            return deadline_ms
        now_ms = self._parts.clock.now_ms()
        if now_ms <= deadline_ms + CLOCKS_DIFFER_MS:
            # What other attempts may have applied is still remembered.
            return self._limit_ms(deadline_ms + KEPT_AFTER_DEADLINE_MS)
        # Asked after the deadline, so that no attempt that begins later can apply anything.
        self._is_alone = self._is_alone or await self._is_running()
        return self._limit_ms(now_ms + LIFETIME_MS) if self._is_alone else deadline_ms

    def _is_over_soon(self, deadline_ms: int) -> bool:
        """Whether this is a first attempt that may go on beyond the deadline, which is less than a minute away."""
        goes_on = self._is_first and deadline_ms < self._end_ms
        return goes_on and self._parts.clock.now_ms() > deadline_ms - KEPT_AFTER_DEADLINE_MS

    def _counted_from(self, moment_ms: int) -> int:
        return self._limit_ms(moment_ms + LIFETIME_MS)

    def _limit_ms(self, moment_ms: int) -> int:
        return round(min(moment_ms, self._end_ms))


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
