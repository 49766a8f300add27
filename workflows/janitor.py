"""The janitor: a short workflow that a schedule starts again and again; its activity sweeps a part at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from temporalio import workflow
from temporalio.common import RetryPolicy

from durable_memory.activities import wire

_PARTS: Final = 12
"""Calls of one run; what they do not reach, the next run does."""

_SWEEP = workflow.ActivityConfig(
    # A part answers after 20 s, when its last page is done.
    start_to_close_timeout=timedelta(minutes=3),
    heartbeat_timeout=timedelta(seconds=15),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=30), maximum_attempts=5
    ),
)


@workflow.defn(name=wire.JANITOR)
class MemoryJanitor:
    """Sweeps one project.

    Its input is {project}; its result {position, counts}, position null if it came to the end.
    """

    @workflow.run
    async def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Goes on where the run before stopped; from the start if that one failed, lest it fail for ever."""
        position: str | None = None
        if workflow.has_last_completion_result() and workflow.get_last_failure() is None:
            last = workflow.get_last_completion_result(dict[str, Any])
            position = last["position"] if last else None
        counts: dict[str, int] = {}
        for _ in range(_PARTS):
            swept: dict[str, Any] = await workflow.execute_activity(
                wire.SWEEP, {**request, "position": position}, result_type=dict[str, Any], **_SWEEP
            )
            for name, number in swept["counts"].items():
                counts[name] = counts.get(name, 0) + number
            position = swept["position"]
            if position is None:
                break
        return {"position": position, "counts": counts}
