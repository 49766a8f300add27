"""Calibrates estimates: now and then, a sample of what was stored is counted by the provider, beside the appends.

A sample is text of messages that were stored, each at most once, up to SAMPLE_CHARACTERS together. It is one request,
in a task of its own: no append waits for it, and no lease is held for it. Its answer corrects the factor of the
estimates that follow; what is stored keeps the tokens that it has. A failure changes nothing, and is counted.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from durable_memory.memory import telemetry
from durable_memory.memory.cutting import cut
from durable_memory.memory.tokens.endpoint import Endpoint, EndpointFailed
from durable_memory.memory.tokens.estimating import ScaledCounter
from durable_memory.memory.types import Message

SAMPLE_CHARACTERS: Final = 8_000
"""About 2,000 tokens, beside which the framing of one message is nothing."""

INTERVAL_SECONDS: Final = 600.0
"""The time between two requests of one process, also after one that failed."""

_WEIGHT: Final = 0.5
"""The weight of a new sample beside all earlier ones; the first stands alone."""

_SMALLEST: Final = 0.5
_LARGEST: Final = 4.0
"""Further off no tokenizer is; a wrong answer must not fill or empty a budget."""

_log = logging.getLogger(__name__)


class Calibration:
    """Corrects the factor of one counter. Belongs to an event loop; ends with `close`."""

    def __init__(
        self,
        endpoint: Endpoint,
        counter: ScaledCounter,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint = endpoint
        self._counter = counter
        self._monotonic = monotonic
        self._sample: list[str] = []
        self._length = 0
        self._asked_at: float | None = None
        self._calibrated = False
        self._asking: asyncio.Task[None] | None = None
        self._ended = False

    def offer(self, messages: Sequence[Message]) -> None:
        """Takes as much of messages that were stored as the next sample still needs. Never waits, never fails."""
        if self._asking is not None or self._ended:
            return
        if self._asked_at is not None and self._monotonic() - self._asked_at < INTERVAL_SECONDS:
            return
        for message in messages:
            text = cut(message.text, SAMPLE_CHARACTERS - self._length)
            if text:
                self._sample.append(text)
                self._length += len(text)
            if self._length >= SAMPLE_CHARACTERS * 0.9:
                self._ask()
                return

    def end(self) -> None:
        """Gives up a request that is under way, and begins none any more. May be called in any thread."""
        self._ended = True
        asking = self._asking
        if asking is not None and not asking.get_loop().is_closed():
            asking.get_loop().call_soon_threadsafe(asking.cancel)

    async def close(self) -> None:
        """Does what `end` does, and waits for the end of the request."""
        asking = self._asking
        self.end()
        if asking is not None:
            await asyncio.wait((asking,))

    def _ask(self) -> None:
        text = "\n".join(self._sample)
        self._sample, self._length = [], 0
        self._asked_at = self._monotonic()
        self._asking = asyncio.create_task(self._calibrate(text))
        self._asking.add_done_callback(self._asked)

    def _asked(self, task: asyncio.Task[None]) -> None:
        self._asking = None
        if not task.cancelled() and task.exception() is not None:
            _log.error("a calibration of token counts failed", exc_info=task.exception())

    async def _calibrate(self, text: str) -> None:
        provider = self._endpoint.provider
        try:
            real = await self._endpoint.tokens(text)
        except EndpointFailed as failure:
            telemetry.count_calibration(provider, failure.outcome)
            _log.warning(
                "tokens could not be counted by their provider, so estimates stay as they are",
                extra={"provider": provider, "outcome": failure.outcome},
            )
            return
        counted = (await self._counter.base.count_text(text)).tokens
        factor = min(_LARGEST, max(_SMALLEST, real / max(1, counted)))
        if self._calibrated:
            factor = _WEIGHT * factor + (1 - _WEIGHT) * self._counter.factor
        self._counter.factor, self._calibrated = factor, True
        telemetry.count_calibration(provider, "ok")
