"""Wakes flushers by signal-with-start. Callers of one process that wait for the same memory share a signal."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from dataclasses import dataclass
from datetime import timedelta

from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from durable_memory.activities import wire
from durable_memory.activities.flush_reports import is_unpolled, retried_flush
from durable_memory.activities.internal_requests import FlushTarget
from durable_memory.memory import telemetry
from durable_memory.memory.errors import MemoryInvalid, MemoryUnavailable
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.task_queues import project_queue
from durable_memory.memory.types.answers import to_json
from durable_memory.memory.waking import RetriedFlush

_log = logging.getLogger(__name__)
_RPC_TIMEOUT = timedelta(seconds=5)
_SIGNALS_USED_UP = "limit for signal events"
"""What the server says of a run that accepts no more signals: after 10,000, unless it is configured otherwise."""
_LAST_MOMENTS_SECONDS = 15
"""An attempt that fails with less time left than this may be the last: the longest backoff and a margin."""


def flusher_id(memory: MemoryId) -> str:
    """Returns the workflow id of a memory's flusher. The key stands in it only as a hash: ids are seen by everyone."""
    hashed_key = hashlib.sha256(memory.key.encode()).hexdigest()[:32]
    return f"{wire.FLUSHER}/{memory.project}/{memory.resource}/{hashed_key}"


@dataclass(slots=True)
class _PendingSignal:
    """A signal that has not been sent yet; all callers that ask until then share it."""

    force: bool
    sent: asyncio.Task[None]


class TemporalWaker:
    """Signals the flusher of a memory, and starts it where none runs."""

    def __init__(self, client: Client, task_queue: str | None = None) -> None:
        """task_queue: that of the memories' project, where one is configured; None: the one that its name gives it."""
        self._client = client
        self._task_queue = task_queue
        self._waiting: dict[MemoryId, _PendingSignal] = {}
        self._sending: dict[MemoryId, asyncio.Task[None]] = {}

    async def wake(self, memory: MemoryId, *, force: bool = False) -> None:
        """See FlushWaker.

        If the signal cannot be sent, an activity fails and is retried. On its last attempt, and outside activities, the
        failure is only counted and the caller gets its answer: the memory stays due, and the janitor finds it. Nothing
        finds a flush that was forced, so then the failure is always raised.
        """
        try:
            await self.tell(memory, force=force)
        except MemoryUnavailable:
            if force or _attempt_is_repeated():
                raise
            telemetry.count_failed_wake(memory.resource)
            _log.warning("a flusher could not be told of due work", extra={"resource": memory.resource})

    async def tell(self, memory: MemoryId, *, force: bool = False) -> None:
        """Wakes the flusher, or raises MemoryUnavailable.

        Callers share a signal only if they asked before it was sent: the flusher may already have read one that is
        under way.
        """
        pending = self._waiting.get(memory)
        if pending is None:
            sent = asyncio.create_task(self._send_next(memory))
            pending = self._waiting[memory] = _PendingSignal(force, sent)
        pending.force = pending.force or force
        try:
            # Shielded: a caller that is cancelled must not cancel the signal of the others.
            await asyncio.shield(pending.sent)
        except (RPCError, OSError) as error:
            raise _not_told(memory, error) from None

    async def revive(self, memory: MemoryId) -> None:
        """Wakes as `tell` does, but first ends a flusher that waits on another queue than the project's.

        Such a flusher began before the project's queue was renamed. If no worker polls the old queue any more, signals
        to it would wait there for ever.
        """
        try:
            flusher = (
                await self._client_now().get_workflow_handle(flusher_id(memory)).describe(rpc_timeout=_RPC_TIMEOUT)
            )
            if flusher.status is WorkflowExecutionStatus.RUNNING and flusher.task_queue != self._queue_of(
                memory.project
            ):
                stranded = self._client_now().get_workflow_handle(flusher.id, run_id=flusher.run_id)
                await stranded.terminate(
                    reason="it waits on another queue than the project's", rpc_timeout=_RPC_TIMEOUT
                )
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise _not_told(memory, error) from None
        await self.tell(memory)

    async def retried(self, memory: MemoryId) -> RetriedFlush | None:
        """See FlushReporter."""
        return await retried_flush(self._client_now(), flusher_id(memory))

    async def unpolled(self, project: str) -> str | None:
        """See QueueReporter."""
        queue = self._queue_of(project)
        return queue if await is_unpolled(self._client_now(), queue) else None

    async def _send_next(self, memory: MemoryId) -> None:
        under_way = self._sending.get(memory)
        if under_way is not None:
            await asyncio.wait([under_way])
        force = self._waiting.pop(memory).force
        sending = self._sending[memory] = asyncio.ensure_future(self._signal(memory, force=force))
        try:
            await sending
        finally:
            if self._sending.get(memory) is sending:
                del self._sending[memory]

    async def _signal(self, memory: MemoryId, *, force: bool) -> None:
        target = FlushTarget(memory.project, memory.resource, memory.key)
        try:
            await self._client_now().start_workflow(
                wire.FLUSHER,
                {"target": to_json(target)},  # the flags of a FlusherInput come with signals
                id=flusher_id(memory),
                task_queue=self._queue_of(memory.project),
                start_signal=wire.FLUSH_DUE,
                start_signal_args=[force],
                rpc_timeout=_RPC_TIMEOUT,
            )
        except RPCError as error:
            # A run that has taken so many signals continues as a new one, which asks the store again: nothing is lost.
            if force or _SIGNALS_USED_UP not in error.message:
                raise

    def _queue_of(self, project: str) -> str:
        try:
            return self._task_queue or project_queue(project)
        except ValueError as error:
            raise MemoryInvalid(f"task_queue: {error}") from None

    def _client_now(self) -> Client:
        """Returns the client to use: the worker of an activity may have a new one, as when certificates are renewed."""
        return activity.client() if activity.in_activity() else self._client


def _not_told(memory: MemoryId, error: Exception) -> MemoryUnavailable:
    return MemoryUnavailable(
        f"the flusher of a {memory.resource!r} memory could not be told of due work "
        f"({type(error).__name__}); what was written stays written"
    )


def _attempt_is_repeated() -> bool:
    """Whether Temporal will repeat the running activity if it fails now."""
    if not activity.in_activity():
        return False
    info = activity.info()
    if info.retry_policy and info.retry_policy.maximum_attempts and info.attempt >= info.retry_policy.maximum_attempts:
        return False
    if info.schedule_to_close_timeout is None:
        return True
    # The clock of the machine: this time is Temporal's, which a clock that a test moves would not change.
    ends = (info.scheduled_time + info.schedule_to_close_timeout).timestamp()
    return ends - time.time() > _LAST_MOMENTS_SECONDS
