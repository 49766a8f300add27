"""Tells the workers of a task queue which declarations this one has, as long as it runs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from temporalio.worker import Worker

from durable_memory.activities.rollout import queue_name
from durable_memory.memory.client_parts import ClientParts
from durable_memory.memory.errors import MemoryFault, MemoryUnavailable
from durable_memory.running.repeating import repeating

_log = logging.getLogger(__name__)
_EVERY: Final = timedelta(seconds=10)
_AFTER_FAILURE: Final = timedelta(seconds=1)
_KEPT_MS: Final = 30_000
"""How long others believe it: as many turns may fail as fit in."""
_PATIENCE_SECONDS: Final = 2.0


@asynccontextmanager
async def announced(parts: ClientParts, worker: Worker) -> AsyncIterator[None]:
    """Says it before the context opens, again and again while it is open, and at once when declarations change."""
    fleet = parts.fleet
    if fleet is None:
        yield
        return
    pause = _EVERY
    place = parts.project, queue_name(worker.client.namespace, worker.task_queue), uuid.uuid4().hex

    async def tell() -> None:
        nonlocal pause
        pause = _AFTER_FAILURE
        async with _never_in_the_way():
            await fleet.tell(*place, parts.registry.fingerprint, _KEPT_MS)
            pause = _EVERY

    async def turn() -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause.total_seconds()):
                await changed.wait()
        changed.clear()
        await tell()

    with parts.watched() as changed:
        await tell()
        try:
            async with repeating(turn, "telling other workers which declarations this one has", pause=_EVERY):
                yield
        finally:
            async with _never_in_the_way():
                await fleet.leave(*place)


@asynccontextmanager
async def _never_in_the_way() -> AsyncIterator[None]:
    """Lets nothing that is wrong with the store hold up or end a worker; the next turn comes."""
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            yield
    except (MemoryUnavailable, TimeoutError):
        pass  # an outage has log lines of its own
    except MemoryFault as fault:
        _log.warning("other workers were not told which declarations this one has: %s", fault.message)
