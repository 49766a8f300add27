"""Heartbeats from a task of their own: cancellation arrives, and a dead worker is noticed, while the work waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio import activity

_DEFAULT_SECONDS = 5.0


@asynccontextmanager
async def heartbeating() -> AsyncIterator[None]:
    """Beats at a third of the activity's heartbeat timeout while the block runs; outside of activities does nothing."""
    if not activity.in_activity():
        yield
        return
    timeout = activity.info().heartbeat_timeout
    period = timeout.total_seconds() / 3 if timeout else _DEFAULT_SECONDS

    async def beat() -> None:
        while True:
            activity.heartbeat()
            await asyncio.sleep(period)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])  # lest it beat for an activity that has ended
