"""The flusher: one short-lived workflow per memory that flushes until nothing is due. Woken by signal-with-start."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import Any, Final, Literal, TypeAlias

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

from durable_memory.activities import operations, wire
from durable_memory.activities.internal_requests import BatchRequest, BeginRequest, FailRequest, FlusherInput
from durable_memory.memory.types import FlushOutcome
from durable_memory.memory.types.answers import from_json, to_json
from durable_memory.workflows.internal_calls import call_internal

_STEP = workflow.ActivityConfig(
    start_to_close_timeout=timedelta(seconds=10),
    schedule_to_close_timeout=timedelta(minutes=10),
    retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_interval=timedelta(seconds=10)),
)
SUMMARIZE = workflow.ActivityConfig(
    # Where nobody polls the queue of summaries, as after a return to an older worker, the flusher must come to an end:
    # as long as it waits, it swallows each signal of its memory.
    schedule_to_start_timeout=timedelta(hours=1),
    start_to_close_timeout=timedelta(minutes=10),
    # Bounds how long a killed worker delays the flush: the attempt beats at a third of it.
    heartbeat_timeout=timedelta(seconds=10),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=30), maximum_attempts=6
    ),
)

_Outcome: TypeAlias = FlushOutcome | Literal["batch", "failed"]
_AT_REST: Final[tuple[_Outcome, ...]] = ("nothing", "gone", "failed")
"""After one of these there is nothing to do until the next signal."""


@workflow.defn(name=wire.FLUSHER)
class MemoryFlusher:
    """Flushes one memory; its input is a FlusherInput."""

    @workflow.init
    def __init__(self, request: dict[str, Any]) -> None:
        """Takes up the flags before any signal is handled, since signals may arrive before `run` begins."""
        given = from_json(FlusherInput, request)
        self._target = given.target
        self._due = given.due
        self._force = given.force
        self._round = 0
        self._signalled = False

    @workflow.signal(name=wire.FLUSH_DUE)
    def flush_due(self, force: bool = False) -> None:  # noqa: FBT001, FBT002 - the argument of a signal is positional
        """Says that this memory has work, perhaps by now done; `force` flushes below the threshold too."""
        self._due = self._signalled = True
        self._force = self._force or force

    @workflow.run
    async def run(self, request: dict[str, Any]) -> None:  # noqa: ARG002 - taken up by __init__
        """Works until nothing is due. Looking for a signal and ending are one step for the server."""
        while True:
            # The flags are lowered before the store is asked: a signal that comes later must not be lost (R13).
            force, self._due, self._force = self._force, False, False
            outcome = await self._flush_once(force=force)
            at_rest = outcome in _AT_REST and not self._due
            # The server takes some 10,000 signals a run: it may have refused one since this run asked the store.
            if workflow.info().is_continue_as_new_suggested() and (not at_rest or self._signalled):
                await workflow.wait_condition(workflow.all_handlers_finished)
                workflow.continue_as_new(to_json(FlusherInput(self._target, due=True, force=self._force)))
            if at_rest:
                return

    async def _flush_once(self, *, force: bool) -> _Outcome:
        """One round: begin, summarize, commit. Returns its outcome."""
        self._round += 1
        owner = f"{workflow.info().run_id}/{self._round}"
        begun = await call_internal(operations.FLUSH_BEGIN, BeginRequest(self._target, owner, force), _STEP)
        if begun.outcome == "busy":
            await self._pause(timedelta(milliseconds=max(begun.retry_after_ms or 0, 100)), force=force)
            self._force = self._force or force
        if begun.batch is None:
            return begun.outcome
        batch = BatchRequest(self._target, begun.batch)
        config = SUMMARIZE.copy()
        if begun.queue is not None:
            config["task_queue"] = begun.queue
        try:
            summarized = await call_internal(operations.FLUSH_SUMMARIZE, batch, config)
        except ActivityError as error:
            if not isinstance(error.cause, Exception) or workflow.cancellation_reason() is not None:
                raise
            # A summariser of the user's may raise an ApplicationError without a type.
            given = error.cause.type if isinstance(error.cause, ApplicationError) else None
            kind = given or type(error.cause).__name__
            await call_internal(operations.FLUSH_FAIL, FailRequest(self._target, begun.batch, kind), _STEP)
            workflow.logger.warning(
                "The summary of a flush failed for good; the next use of the memory tries it again, or the janitor"
            )
            return "failed"
        if summarized.outcome != "drafted":
            return "stale"
        return (await call_internal(operations.FLUSH_COMMIT, batch, _STEP)).outcome

    async def _pause(self, duration: timedelta, *, force: bool) -> None:
        """Waits until the flush that is in the way may have ended, or the pause after a failed one is over.

        A signal that forces a flush ends the wait, since a forced flush heeds no pause after a failure. A round that
        was forced itself can only be held up by another flush, so it waits for the whole time.
        """
        if force:
            await workflow.sleep(duration)
            return
        with contextlib.suppress(TimeoutError):
            await workflow.wait_condition(lambda: self._force, timeout=duration)
