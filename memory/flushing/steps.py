"""The steps of a flush, the same in every process: begin, summarize, commit; and a whole flush in one call.

Between the steps only the batch travels: its plan and draft live in the store. Each step can be repeated.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Coroutine
from typing import Any, Final

from durable_memory.memory import telemetry
from durable_memory.memory.clock import Clock
from durable_memory.memory.errors import MESSAGES_STAY, MemoryOperationExpired, type_of
from durable_memory.memory.flushing.drafting import Drafting
from durable_memory.memory.flushing.lease import while_leased
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.values import Batch, Begun, FlushOptions, Operation, Stopped, StoredEntry
from durable_memory.memory.types import FlushResult

RETRY_AFTER_FAILURE_MS: Final = 2_000
"""How long a failed flush keeps the next one away, so that a broken summariser is not called in a tight loop."""

_GIVE_BACK_SECONDS: Final = 2.0

_log = logging.getLogger(__name__)


class FlushSteps:
    """Flushes memories of one store. Belongs to the event loop of its store."""

    def __init__(self, store: Store, drafting: Drafting, clock: Clock) -> None:
        self._store = store
        self._drafting = drafting
        self._clock = clock
        self._giving_back: set[asyncio.Task[None]] = set()

    async def begin(
        self,
        memory: MemoryId,
        flush_id: str,
        limits: Limits,
        options: FlushOptions,
        *,
        attempt_ends_ms: int,
    ) -> Begun:
        """Takes the lease and chooses what to summarise; see Store.begin. Only for memories that summarise."""
        began = time.perf_counter()
        begun = await self._store.begin(
            memory, flush_id, limits, options, batch_id=secrets.token_hex(8), attempt_ends_ms=attempt_ends_ms
        )
        if isinstance(begun, Batch):
            telemetry.record_lease_wait(memory.resource, "taken", time.perf_counter() - began)
        elif begun.outcome == "busy":
            telemetry.record_lease_wait(memory.resource, "busy", begun.retry_after_ms / 1_000)
        return begun

    async def summarize(
        self, memory: MemoryId, batch: Batch, limits: Limits, *, last_attempt: bool = True
    ) -> Stopped | None:
        """Writes the summary of a batch and stores it as the batch's draft, keeping the lease meanwhile.

        Returns None when the draft is stored, `gone` or `stale` when it has become useless. Raises
        MemoryRedactionFailed before any summariser is asked, MemorySummaryRejected for an empty or too large summary,
        and whatever the summariser raises; of one that has a fallback, only what another attempt may mend.
        last_attempt: there is no other one, so the fallback writes.
        """
        stopped = await while_leased(
            self._store, memory, batch, limits, self._draft(memory, batch, last_attempt=last_attempt)
        )
        if stopped == "stale":
            telemetry.count_lost_lease(memory.resource)
        return stopped

    async def commit(self, memory: MemoryId, batch: Batch, limits: Limits, *, deadline_ms: int) -> FlushResult:
        """Replaces the batch by its draft in one step; see Store.commit."""
        result = await self._store.commit(memory, batch, limits, deadline_ms)
        if result.outcome == "stale":
            telemetry.count_lost_lease(memory.resource)
        return result

    async def fail(self, memory: MemoryId, batch: Batch, *, error_type: str, retry_after_ms: int) -> Stopped | None:
        """Gives batch and lease back; see Store.fail."""
        return await self._store.fail(memory, batch, error_type, retry_after_ms)

    async def run(
        self,
        memory: MemoryId,
        flush_id: str,
        limits: Limits,
        options: FlushOptions,
        *,
        deadline_ms: int,
    ) -> FlushResult:
        """Runs a whole flush, or drops where the memory drops.

        If it fails, is cancelled or reaches its deadline, batch and lease are given back and nothing has changed. The
        same flush may call it again: once committed, the answer is the result of then.

        flush_id: names this flush in all its attempts, e.g. its operation id; never used for another one. deadline_ms:
        Unix time by which it is done or given up. Raises MemoryOperationExpired at the deadline, and as `summarize`.
        """
        if not limits.summarize:
            operation = Operation(flush_id, deadline_ms, digest="")
            return await self._store.drop(memory, operation, limits, options)
        beginning = asyncio.create_task(self.begin(memory, flush_id, limits, options, attempt_ends_ms=deadline_ms))
        seconds_left = (deadline_ms - self._clock.now_ms()) / 1_000
        timeout = asyncio.timeout(seconds_left)
        try:
            async with timeout:
                # Shielded: a batch whose begin was cancelled half-way would be held until its lease ends.
                begun = await asyncio.shield(beginning)
                if isinstance(begun, FlushResult):
                    return begun
                stopped = await self.summarize(memory, begun, limits)
                if stopped is not None:
                    # Another attempt of this flush may have committed it; otherwise the store says the same again.
                    return await self._store.commit(memory, begun, limits, deadline_ms)
                return await self.commit(memory, begun, limits, deadline_ms=deadline_ms)
        except (Exception, asyncio.CancelledError) as error:
            await self._give_back(self._fail_begun(memory, beginning, error))
            if isinstance(error, TimeoutError) and timeout.expired():
                raise MemoryOperationExpired(
                    f"a flush of a {memory.resource!r} memory reached its deadline; {MESSAGES_STAY}"
                ) from None
            raise

    async def _draft(self, memory: MemoryId, batch: Batch, *, last_attempt: bool) -> Stopped | None:
        entries: list[StoredEntry] = []
        cursor: int | None = 0
        while cursor is not None:
            page = await self._store.content(memory, batch, cursor)
            if isinstance(page, str):
                return page
            entries += page.entries
            cursor = page.cursor
        summary = await self._drafting.summary_of(memory, entries, batch.summary_max, last_attempt=last_attempt)
        return await self._store.draft(memory, batch, summary)

    async def _fail_begun(
        self, memory: MemoryId, beginning: asyncio.Task[Begun], error: Exception | asyncio.CancelledError
    ) -> None:
        cancelled = isinstance(error, asyncio.CancelledError)
        try:
            begun = await beginning
            if isinstance(begun, Batch):
                await self.fail(
                    memory,
                    begun,
                    error_type=type_of(error),
                    retry_after_ms=0 if cancelled else RETRY_AFTER_FAILURE_MS,
                )
        except Exception as failed:  # noqa: BLE001 - whatever it is: what run reports is why the flush ended
            if failed is not error:
                # It ends by itself.
                _log.warning("the lease of a flush could not be given back (%s)", type_of(failed))

    async def _give_back(self, work: Coroutine[Any, Any, None]) -> None:
        """Waits for `work`, but not long; it is not stopped by a cancellation of the waiting."""
        task = asyncio.create_task(work)
        self._giving_back.add(task)
        task.add_done_callback(self._giving_back.discard)
        await asyncio.wait((task,), timeout=_GIVE_BACK_SECONDS)
