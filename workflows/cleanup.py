"""The cleanup at the end of a workflow: which end is one, and how what belonged to the workflow is settled."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError, is_cancelled_exception

from durable_memory.activities.internal_requests import CleanupRequest
from durable_memory.activities.operations import CLEANUP
from durable_memory.workflows.internal_calls import as_sent

CLEANUP_CALL = workflow.ActivityConfig(
    start_to_close_timeout=timedelta(seconds=5),
    schedule_to_close_timeout=timedelta(seconds=10),
    retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_interval=timedelta(seconds=2)),
)
"""Short, since whoever waits for the workflow waits for its cleanup too; the janitor finds what it has missed."""


def ends_chain(error: BaseException) -> bool:
    """Tells whether this end of a run is certainly the end of its whole chain of runs.

    It is not at continue-as-new, when the run leaves the cache (a cancellation that nobody asked for), and when the run
    is garbage-collected because its worker is gone. It is not for an error that only fails the workflow task, which is
    tried again, and for a failure after which the server may start another attempt or the next cron run. What only the
    server knows is left to the janitor.
    """
    if isinstance(error, (workflow.ContinueAsNewError, GeneratorExit)):
        return False
    if workflow.cancellation_reason() is not None and is_cancelled_exception(error):
        return True
    if not isinstance(error, Exception) or not workflow.is_failure_exception(error):
        return False
    info = workflow.info()
    if info.cron_schedule:
        return False
    if info.retry_policy is None or info.attempt == info.retry_policy.maximum_attempts:
        return True
    return isinstance(error, ApplicationError) and error.non_retryable


async def settle() -> None:
    """Runs the cleanup to its end, also under cancellation. Its failure is logged: it must not fail a good workflow."""
    info = workflow.info()
    request = as_sent(CleanupRequest(info.workflow_id, info.run_id))
    # A task of its own: the workflow's cancellation does not reach it.
    task = asyncio.create_task(
        workflow.execute_activity(CLEANUP.name, request, result_type=dict[str, Any], **CLEANUP_CALL)
    )
    try:
        await _wait_through_cancellation(task)
    except Exception as error:  # noqa: BLE001 - whatever it is, the workflow has ended well without it
        workflow.logger.warning("Cleanup of memories failed (%s); the janitor finishes it", type(error).__name__)


async def _wait_through_cancellation(task: asyncio.Task[Any]) -> None:
    """Waits for the end of `task`, also when the workflow is cancelled meanwhile; not when it leaves the cache."""
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if workflow.cancellation_reason() is None:
                raise
    task.result()
