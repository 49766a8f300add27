"""Summarisers that wait, fail or die when a test wants it. They stand where a user's own summariser stands."""

from __future__ import annotations

import asyncio

from temporalio.exceptions import ApplicationError

from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.flushing.summarizer import SummaryRequest


class Gated:
    """Fails a number of times, then waits at its gate, then answers."""

    max_input_tokens: int | None = None

    def __init__(self, *, failures: int = 0) -> None:
        self.calls = 0
        self.failures = failures
        self.waiting = asyncio.Event()
        self.gate = asyncio.Event()

    async def summarize(self, request: SummaryRequest) -> str:
        """See Summarizer."""
        self.calls += 1
        if self.calls <= self.failures:
            raise MemoryUnavailable("the model is overloaded", retry_after_ms=10)
        self.waiting.set()
        await self.gate.wait()
        return f"A summary of {len(request.messages)} messages."

    async def asked(self) -> None:
        """Waits until a call stands at the gate."""
        async with asyncio.timeout(60):
            await self.waiting.wait()


class FirstOutlivesItsTime:
    """The first call answers only when it is let go, whatever cancels it meanwhile; others answer at once."""

    max_input_tokens: int | None = None

    def __init__(self) -> None:
        self.calls = 0
        self.let_go = asyncio.Event()
        self.first_answered = asyncio.Event()

    async def summarize(self, request: SummaryRequest) -> str:  # noqa: ARG002 - the words are the test's
        """See Summarizer."""
        self.calls += 1
        if self.calls > 1:
            return "Written by the second attempt."
        while not self.let_go.is_set():
            try:
                await self.let_go.wait()
            except asyncio.CancelledError:
                continue
        self.first_answered.set()
        return "Written by the first attempt."


class FailsWithoutType:
    """Fails for good with an error of Temporal's that says no type."""

    max_input_tokens: int | None = None

    async def summarize(self, request: SummaryRequest) -> str:  # noqa: ARG002 - none is written
        """See Summarizer."""
        raise ApplicationError("the model refuses this text", non_retryable=True)
