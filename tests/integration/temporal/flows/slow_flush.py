"""Flushes that are watched closely: by the names of their activities, and by the handle."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

from durable_memory import AgentMemory
from durable_memory.activities import wire

SILENCE = timedelta(seconds=6)
"""How long an attempt may be silent. It beats at a third of that, which its worker has to pass on: see PASSES_ON."""

PASSES_ON = timedelta(milliseconds=100)
"""The `max_heartbeat_throttle_interval` of its worker, which by itself keeps a beat back for four fifths of SILENCE."""


@workflow.defn
class HurriedFlush:
    """Gives up an attempt at the summary after some seconds: of work, or of silence if it is `patient`."""

    @workflow.run
    async def run(self, target: dict[str, str], queue: str, patient: bool = False) -> str:  # noqa: FBT001, FBT002 - as Temporal passes it
        """See class."""
        begin = {"target": target, "owner": workflow.info().run_id, "force": True}
        batch = {"target": target, "batch": (await self._step(queue, wire.FLUSH_BEGIN, begin))["batch"]}
        limits = workflow.ActivityConfig(start_to_close_timeout=timedelta(seconds=3))
        if patient:
            limits = workflow.ActivityConfig(heartbeat_timeout=SILENCE)
        await self._step(queue, wire.FLUSH_SUMMARIZE, batch, limits)
        return str((await self._step(queue, wire.FLUSH_COMMIT, batch))["outcome"])

    async def _step(
        self, queue: str, activity: str, request: dict[str, Any], limits: workflow.ActivityConfig | None = None
    ) -> dict[str, Any]:
        config = workflow.ActivityConfig(
            task_queue=queue,
            start_to_close_timeout=timedelta(seconds=20),
            retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=10)),
        )
        config.update(limits or {})
        answer: dict[str, Any] = await workflow.execute_activity(
            activity, request, result_type=dict[str, Any], **config
        )
        return answer


@workflow.defn
class WatchedFlush:
    """Flushes by the handle; what happens to its activity is heard of by its heartbeats."""

    @workflow.run
    async def run(self, resource: str, key: str) -> str:
        """See class."""
        config = workflow.ActivityConfig(heartbeat_timeout=SILENCE)
        return (await AgentMemory(resource, key=key, activity_config=config).flush(force=True)).outcome
