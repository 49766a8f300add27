"""Temporal client interceptors that lose or hold the signals to flushers, as a network may do."""

from __future__ import annotations

import asyncio
from typing import Any

from temporalio.client import Interceptor, OutboundInterceptor, StartWorkflowInput, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from durable_memory.activities import wire


class LosesSignals(Interceptor):
    """Lets every nth signal-with-start fail before it is sent."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.asked = 0
        self.lost = 0

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        """See base class."""
        return _Losing(next, self)


class _Losing(OutboundInterceptor):
    def __init__(self, next_one: OutboundInterceptor, loses: LosesSignals) -> None:
        super().__init__(next_one)
        self._loses = loses

    async def start_workflow(self, input: StartWorkflowInput) -> WorkflowHandle[Any, Any]:
        if input.start_signal == wire.FLUSH_DUE:
            self._loses.asked += 1
            if self._loses.asked % self._loses.every == 0:
                self._loses.lost += 1
                raise RPCError("the connection was reset", RPCStatusCode.UNAVAILABLE, b"")
        return await super().start_workflow(input)


class HoldsSignals(Interceptor):
    """Holds each signal-with-start until the test lets it go."""

    def __init__(self) -> None:
        self.started = 0
        self.go = asyncio.Semaphore(0)

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        """See base class."""
        return _Holding(next, self)


class _Holding(OutboundInterceptor):
    def __init__(self, next_one: OutboundInterceptor, holds: HoldsSignals) -> None:
        super().__init__(next_one)
        self._holds = holds

    async def start_workflow(self, input: StartWorkflowInput) -> WorkflowHandle[Any, Any]:
        self._holds.started += 1
        await self._holds.go.acquire()
        return await super().start_workflow(input)
