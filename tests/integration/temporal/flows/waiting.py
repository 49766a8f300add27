"""A workflow that asks one activity, however long no worker takes it."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

from durable_memory import AgentMemory


@workflow.defn
class AskOne:
    """Runs an activity by its name, on one memory."""

    @workflow.run
    async def run(self, key: str, activity: str, pause_seconds: float = 0.01) -> str:
        """Returns its answer. pause_seconds: between its attempts."""
        answer: str = await workflow.execute_activity(
            activity,
            args=[AgentMemory("chat", key=key).ref],
            result_type=str,
            start_to_close_timeout=timedelta(minutes=1),
            retry_policy=RetryPolicy(initial_interval=timedelta(seconds=pause_seconds)),
        )
        return answer
