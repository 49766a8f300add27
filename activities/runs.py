"""Asks Temporal about runs of workflows; the janitor decides by the answers."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, Literal

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import WorkflowExecutionStatus as Status
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, DescribeWorkflowExecutionRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.identity import WorkflowId
from durable_memory.memory.janitor.chains import Run

_RPC_TIMEOUT: Final = timedelta(seconds=3)
_OPEN: Final = (Status.WORKFLOW_EXECUTION_STATUS_RUNNING, Status.WORKFLOW_EXECUTION_STATUS_PAUSED)
_CLOSED: Final = (
    Status.WORKFLOW_EXECUTION_STATUS_COMPLETED,
    Status.WORKFLOW_EXECUTION_STATUS_FAILED,
    Status.WORKFLOW_EXECUTION_STATUS_CANCELED,
    Status.WORKFLOW_EXECUTION_STATUS_TERMINATED,
    Status.WORKFLOW_EXECUTION_STATUS_TIMED_OUT,
)
"""A run that continued as new is not among them, since its chain goes on."""


class TemporalRuns:
    """The Runs port on a Temporal client; namespaces other than the client's are asked for as well."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def describe(self, workflow: WorkflowId, run_id: str | None = None) -> Run | None:
        """See Runs."""
        request = DescribeWorkflowExecutionRequest(
            namespace=workflow.namespace,
            execution=WorkflowExecution(workflow_id=workflow.id, run_id=run_id or ""),
        )
        try:
            answer = await self._client.workflow_service.describe_workflow_execution(request, timeout=_RPC_TIMEOUT)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                # The namespace itself may be missing: then its retention is unknown, and nothing is decided.
                return None
            raise _unavailable(error) from None
        info = answer.workflow_execution_info
        return Run(info.execution.run_id, info.first_run_id or None, _state(info.status))

    async def retention_ms(self, namespace: str) -> int:
        """See Runs."""
        try:
            answer = await self._client.workflow_service.describe_namespace(
                DescribeNamespaceRequest(namespace=namespace), timeout=_RPC_TIMEOUT
            )
        except RPCError as error:
            raise _unavailable(error) from None
        return answer.config.workflow_execution_retention_ttl.ToMilliseconds()


def _state(status: Status.ValueType) -> Literal["open", "closed", "unknown"]:
    if status in _OPEN:
        return "open"
    return "closed" if status in _CLOSED else "unknown"


def _unavailable(error: RPCError) -> MemoryUnavailable:
    return MemoryUnavailable(f"Temporal did not say how a workflow goes on ({error.status.name})")
