"""Tells the workers of a task queue which declarations this one has, as long as it runs."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from temporalio.worker import Worker

from durable_memory.activities.rollout import queue_name
from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.wiring import Wiring
from durable_memory.repeating import repeating

_EVERY: Final = timedelta(seconds=10)
_KEPT_MS: Final = 30_000
"""How long others believe it: as many turns may fail as fit in."""


@asynccontextmanager
async def announced(wiring: Wiring, worker: Worker) -> AsyncIterator[None]:
    """Says it before the context opens, again and again while it is open, and at once when declarations change."""
    fleet = wiring.fleet
    if fleet is None:
        yield
        return
    place = wiring.project, queue_name(worker.client.namespace, worker.task_queue), uuid.uuid4().hex

    async def tell() -> None:
        with contextlib.suppress(MemoryUnavailable):  # an outage has log lines of its own; the next turn comes
            await fleet.tell(*place, wiring.registry.fingerprint, _KEPT_MS)

    async def turn() -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EVERY.total_seconds()):
                await changed.wait()
        changed.clear()
        await tell()

    with wiring.watched() as changed:
        await tell()
        try:
            async with repeating(turn, "telling other workers which declarations this one has", pause=_EVERY):
                yield
        finally:
            with contextlib.suppress(MemoryUnavailable):
                await fleet.leave(*place)
