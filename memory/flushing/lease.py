"""Keeps a flush's lease while its work runs, and stops the work when the lease is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Literal, TypeVar

from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.values import Batch

_T = TypeVar("_T")


async def while_leased(
    store: Store, memory: MemoryId, batch: Batch, limits: Limits, work: Coroutine[Any, Any, _T]
) -> _T | Literal["stale"]:
    """Runs `work` and renews the lease at a third of its lifetime, from a task of its own.

    Returns the result of the work, or `stale` after cancelling it, once the lease is lost. The lease only spares work
    that could not be committed any more: what decides is the fence.
    """
    working = asyncio.create_task(work)
    renewing = asyncio.create_task(_renew_until_lost(store, memory, batch, limits))
    try:
        await asyncio.wait((working, renewing), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        renewing.result()
        return "stale"
    finally:
        working.cancel()
        renewing.cancel()
        await asyncio.gather(working, renewing, return_exceptions=True)


async def _renew_until_lost(store: Store, memory: MemoryId, batch: Batch, limits: Limits) -> None:
    held = True
    while held:
        await asyncio.sleep(limits.lease_ms / 3_000)
        try:
            held = await store.renew(memory, batch, limits)
        except MemoryUnavailable:
            # Nothing is known: if another took over meanwhile, the next renewal or the commit tells.
            continue
