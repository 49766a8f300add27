"""Workflows that keep a queue busy, on a worker without our plugin."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy


@workflow.defn
class AppendInTurn:
    """Appends each text by name on the workers' queue, as long as it takes; returns how many were stored by a retry."""

    @workflow.run
    async def run(self, queue: str, key: str, texts: list[str]) -> int:
        """See class."""
        repeated = 0
        for text in texts:
            request = {"memory": {"resource": "small", "key": key}, "messages": [{"role": "user", "content": text}]}
            answer: dict[str, Any] = await workflow.execute_activity(
                "memory.append",
                request,
                task_queue=queue,
                start_to_close_timeout=timedelta(seconds=30),
                schedule_to_close_timeout=timedelta(minutes=10),
                retry_policy=RetryPolicy(
                    initial_interval=timedelta(milliseconds=100), maximum_interval=timedelta(seconds=2)
                ),
            )
            repeated += answer["already_applied"]
        return repeated
