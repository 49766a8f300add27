"""Measures a flush when it has ended, in whatever process it ran."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable

from durable_memory.memory import telemetry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import MemoryFault
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.stores.port import Store
from durable_memory.memory.types import TOOK_OUT, FlushResult

_log = logging.getLogger(__name__)


async def run_measured(
    run: Awaitable[FlushResult], store: Store, resource: MemoryResource, memory: MemoryId
) -> FlushResult:
    """Waits for a flush that runs in this process, and measures it however it ends; returns its result."""
    started = time.perf_counter()
    try:
        result = await run
    except Exception:
        telemetry.count_flush(resource.id, resource.flushing.strategy, "failed", time.perf_counter() - started)
        raise
    await measure_result(store, resource, memory, result, time.perf_counter() - started)
    return result


async def measure_result(
    store: Store, resource: MemoryResource, memory: MemoryId, result: FlushResult, seconds: float
) -> None:
    """Counts a flush by its outcome, and records what it left in the view and in the overflow."""
    if result.outcome == "nothing":
        return
    telemetry.count_flush(resource.id, resource.flushing.strategy, result.outcome, seconds)
    if result.outcome in TOOK_OUT:
        telemetry.record_view(resource.id, result.tokens_after, resource.limits().max_tokens)
        await _measure_overflow(store, resource, memory)


async def _measure_overflow(store: Store, resource: MemoryResource, memory: MemoryId) -> None:
    """Records what waits for its summary. Never fails what has been done already."""
    try:
        stats = await store.stats(memory, resource.limits())
    except MemoryFault as fault:
        _log.debug("an overflow could not be measured (%s)", fault.type, extra={"resource": resource.id})
        return
    telemetry.record_overflow(resource.id, stats.omitted.tokens)
