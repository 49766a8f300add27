"""A workflow of somebody else's, without our plugin: it calls activities of the worker by their names."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker


@workflow.defn
class CallByName:
    """Calls one activity on the project's queue."""

    @workflow.run
    async def run(self, queue: str, activity: str, request: dict[str, Any]) -> dict[str, Any]:
        """Returns the activity's answer."""
        answer: dict[str, Any] = await workflow.execute_activity(
            activity,
            request,
            task_queue=queue,
            start_to_close_timeout=timedelta(seconds=120),
            schedule_to_close_timeout=timedelta(seconds=120),
        )
        return answer


class Caller:
    """Runs such workflows; `queue` is the one that the worker under test serves."""

    def __init__(self, client: Client, queue: str) -> None:
        self._client = client
        self._queue = queue

    async def start(self, activity: str, request: dict[str, Any]) -> WorkflowHandle[Any, Any]:
        """Starts a call."""
        return await self._client.start_workflow(
            CallByName.run,
            args=[self._queue, activity, request],
            id=f"call-{uuid.uuid4().hex}",
            task_queue=f"{self._queue}-callers",
        )

    async def call(self, activity: str, request: dict[str, Any]) -> dict[str, Any]:
        """Calls an activity and returns its answer."""
        answer: dict[str, Any] = await (await self.start(activity, request)).result()
        return answer

    async def append(self, resource: str, key: str, *texts: str) -> dict[str, Any]:
        """Appends user messages."""
        messages = [{"role": "user", "content": text} for text in texts]
        return await self.call("memory.append", {"memory": {"resource": resource, "key": key}, "messages": messages})


@asynccontextmanager
async def calling(client: Client, queue: str) -> AsyncIterator[Caller]:
    """Runs the workflows of a caller."""
    async with Worker(client, task_queue=f"{queue}-callers", workflows=[CallByName]):
        yield Caller(client, queue)


async def until_started(handle: WorkflowHandle[Any, Any]) -> None:
    """Waits until a worker has taken the activity of a call."""
    async with asyncio.timeout(120):
        while True:
            pending = (await handle.describe()).raw_description.pending_activities
            if any(each.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED for each in pending):
                return
            await asyncio.sleep(0.05)
