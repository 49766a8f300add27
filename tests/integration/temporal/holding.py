"""A Temporal interceptor that holds the answers of an activity, after its work is done, as a slow network may do."""

from __future__ import annotations

import asyncio
from typing import Any

import temporalio.client
import temporalio.worker
from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput


class HoldsAnswers(temporalio.client.Interceptor, temporalio.worker.Interceptor):
    """Holds each answer of `activity_type`, or only those with this outcome, until the test opens the gate.

    call: the first one whose answer is held.
    """

    def __init__(self, activity_type: str, *, outcome: str | None = None, call: int = 1) -> None:
        self.activity_type = activity_type
        self.outcome = outcome
        self.passing = call - 1
        self.holding = asyncio.Event()
        self.gate = asyncio.Event()

    def intercept_activity(
        self,
        next: ActivityInboundInterceptor,
    ) -> ActivityInboundInterceptor:
        """See base class."""
        return _Holding(next, self)

    async def held(self) -> None:
        """Waits until an answer is held."""
        async with asyncio.timeout(60):
            await self.holding.wait()


class _Holding(ActivityInboundInterceptor):
    def __init__(self, next_one: ActivityInboundInterceptor, holds: HoldsAnswers) -> None:
        super().__init__(next_one)
        self._holds = holds

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        answer = await super().execute_activity(input)
        asked_for = self._holds.outcome is None or answer.get("outcome") == self._holds.outcome
        if activity.info().activity_type == self._holds.activity_type and asked_for:
            if self._holds.passing > 0:
                self._holds.passing -= 1
                return answer
            self._holds.holding.set()
            await self._holds.gate.wait()
        return answer
