"""Asks Temporal which attempt of an activity is running."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from temporalio import activity
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DescribeActivityExecutionRequest, DescribeWorkflowExecutionRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from durable_memory.memory.errors import MemoryUnavailable

_RPC_TIMEOUT: Final = timedelta(seconds=3)


async def is_running(client: Client, info: activity.Info) -> bool:
    """Tells whether this attempt is the one that Temporal has started last, and waits for.

    A worker that was cut off, or stood still, may run one that Temporal has given up. Raises MemoryUnavailable if
    Temporal does not say.
    """
    try:
        started = await _last_start(client, info)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise MemoryUnavailable(
            f"Temporal did not say whether this attempt is still the one that counts ({error.status.name})"
        ) from None
    return started == (info.attempt, info.started_time)


async def _last_start(client: Client, info: activity.Info) -> tuple[int, datetime] | None:
    service = client.workflow_service
    if info.workflow_id is None:
        one = await service.describe_activity_execution(
            DescribeActivityExecutionRequest(
                namespace=info.namespace, activity_id=info.activity_id, run_id=info.activity_run_id or ""
            ),
            timeout=_RPC_TIMEOUT,
        )
        return one.info.attempt, one.info.last_started_time.ToDatetime(UTC)
    run = await service.describe_workflow_execution(
        DescribeWorkflowExecutionRequest(
            namespace=info.namespace,
            execution=WorkflowExecution(workflow_id=info.workflow_id, run_id=info.workflow_run_id or ""),
        ),
        timeout=_RPC_TIMEOUT,
    )
    for pending in run.pending_activities:
        if pending.activity_id == info.activity_id:
            return pending.attempt, pending.last_started_time.ToDatetime(UTC)
    return None
