"""Asks Temporal who polls a task queue."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client

WORKFLOWS: Final = TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW
ACTIVITIES: Final = TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY
_TIMEOUT: Final = timedelta(seconds=2)
"""Short, since a look at the health of a project asks for much else besides."""


async def pollers(client: Client, task_queue: str, kind: TaskQueueType.ValueType) -> set[str]:
    """Returns the identities of the workers that poll a queue for workflows or for activities.

    Temporal lists who did in the last five minutes: also a worker whose slots are all taken, and one that restarts.
    Raises RPCError.
    """
    request = DescribeTaskQueueRequest(
        namespace=client.namespace, task_queue=TaskQueue(name=task_queue), task_queue_type=kind
    )
    answer = await client.workflow_service.describe_task_queue(request, timeout=_TIMEOUT)
    return {poller.identity for poller in answer.pollers}
