"""The janitor: a short workflow that a schedule starts again and again; its activity sweeps a part at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from temporalio import workflow
from temporalio.common import RetryPolicy

from durable_memory.activities import operations, wire
from durable_memory.activities.internal_requests import SweepAnswer, SweepRequest
from durable_memory.memory.types.answers import from_json, to_json
from durable_memory.workflows.internal_calls import call_internal

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

    Its input is {project}, its result a SweepAnswer of all its parts.
    """

    @workflow.run
    async def run(self, given: dict[str, Any]) -> dict[str, Any]:
        """Goes on where the run before stopped; from the start if that one failed, lest it fail for ever."""
        position: str | None = None
        if workflow.has_last_completion_result() and workflow.get_last_failure() is None:
            last = workflow.get_last_completion_result(dict[str, Any])
            position = from_json(SweepAnswer, last).position if last else None
        counts: dict[str, int] = {}
        for _ in range(_PARTS):
            request = SweepRequest(given["project"], position)
            swept = await call_internal(operations.SWEEP, request, _SWEEP)
            for name, number in swept.counts.items():
                counts[name] = counts.get(name, 0) + number
            position = swept.position
            if position is None:
                break
        answer: dict[str, Any] = to_json(SweepAnswer(position, counts))
        return answer
