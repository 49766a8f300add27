"""A flush by the names of its activities, whose summary is given little time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

from durable_memory.activities import wire


@workflow.defn
class HurriedFlush:
    """Lets an attempt at the summary run for one second before the next one starts."""

    @workflow.run
    async def run(self, target: dict[str, str], queue: str) -> str:
        """See class."""
        begin = {"target": target, "owner": workflow.info().run_id, "force": True}
        batch = {"target": target, "batch": (await self._step(queue, wire.FLUSH_BEGIN, begin))["batch"]}
        await self._step(queue, wire.FLUSH_SUMMARIZE, batch, seconds=1)
        return str((await self._step(queue, wire.FLUSH_COMMIT, batch))["outcome"])

    async def _step(self, queue: str, activity: str, request: dict[str, Any], *, seconds: int = 10) -> dict[str, Any]:
        answer: dict[str, Any] = await workflow.execute_activity(
            activity,
            request,
            task_queue=queue,
            start_to_close_timeout=timedelta(seconds=seconds),
            retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=10)),
            result_type=dict[str, Any],
        )
        return answer
