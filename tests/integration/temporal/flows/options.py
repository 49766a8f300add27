"""Workflows whose handles have options: such as Temporal takes, and such as it refuses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

from temporalio import workflow
from temporalio.common import Priority, RetryPolicy

from durable_memory import Agent, AgentMemory
from durable_memory.workflows.calling import CALL
from durable_memory.workflows.options import MAY_BE_NONE


def _wrong(value: object) -> Any:
    """A value of a type that no checker lets through here."""
    return value


CONFIGS: dict[str, Callable[[], Any]] = {
    "typo": lambda: {"summry": "A greeting"},
    "a number": lambda: {"start_to_close_timeout": 5},
    "no time": lambda: {"heartbeat_timeout": timedelta()},
    "no end": lambda: {"start_to_close_timeout": None, "schedule_to_close_timeout": None},
    "no policy": lambda: {"retry_policy": {"maximum_attempts": 1}},
    "no config": lambda: "5 seconds",
    "an empty list": list,
    "fewer attempts than none": lambda: {"retry_policy": RetryPolicy(maximum_attempts=-1)},
    "more attempts than fit": lambda: {"retry_policy": RetryPolicy(maximum_attempts=2**31)},
    "attempts as text": lambda: {"retry_policy": RetryPolicy(maximum_attempts=_wrong("3"))},
    "shorter pauses": lambda: {"retry_policy": RetryPolicy(backoff_coefficient=0.5)},
    "no pauses": lambda: {"retry_policy": RetryPolicy(backoff_coefficient=float("nan"))},
    "pauses as text": lambda: {"retry_policy": RetryPolicy(backoff_coefficient=_wrong("2"))},
    "a first pause over the last": lambda: {"retry_policy": RetryPolicy(timedelta(10), maximum_interval=timedelta(1))},
    "a pause without end": lambda: {"retry_policy": RetryPolicy(timedelta.max)},
    "a pause of a number": lambda: {"retry_policy": RetryPolicy(_wrong(5))},
    "a longest pause of a number": lambda: {"retry_policy": RetryPolicy(maximum_interval=_wrong(5))},
    "an error of a number": lambda: {"retry_policy": RetryPolicy(non_retryable_error_types=_wrong([5]))},
    "an error alone": lambda: {"retry_policy": RetryPolicy(non_retryable_error_types="MemoryBusy")},
    "a broken error": lambda: {"retry_policy": RetryPolicy(non_retryable_error_types=["x\ud800"])},
    "an unknown timeout": lambda: {"retry_policy": RetryPolicy(non_retryable_error_types=["TemporalTimeout:Lunch"])},
    "a queue of a number": lambda: {"task_queue": 5},
    "a long queue": lambda: {"task_queue": "\u00e9" * 501},
    "a queue of Temporal": lambda: {"task_queue": "/_sys/x"},
    "a blank queue": lambda: {"task_queue": " "},
    "a broken queue": lambda: {"task_queue": "x\ud800"},
    "no priority": lambda: {"priority": "high"},
    "a priority too low": lambda: {"priority": Priority(priority_key=2**31)},
    "a true priority": lambda: {"priority": Priority(priority_key=True)},
    "a long fairness key": lambda: {"priority": Priority(fairness_key="\u00e9" * 33)},
    "a fairness key of a number": lambda: {"priority": Priority(fairness_key=_wrong(5))},
    "a weight below zero": lambda: {"priority": Priority(fairness_weight=-1.0)},
    "a weight as text": lambda: {"priority": Priority(fairness_weight=_wrong("1"))},
    "an id": lambda: {"activity_id": "memory"},
    "an id of a number": lambda: {"activity_id": 5},
    "no cancellation": lambda: {"cancellation_type": "x"},
    "none of the cancellations": lambda: {"cancellation_type": None},
    "no intent": lambda: {"versioning_intent": "x"},
    "a summary of a number": lambda: {"summary": 5},
    "a summary too long": lambda: {"summary": "x" * 1_500_001},
    "no groups": lambda: {"event_groups": ["x"]},
    "groups of a number": lambda: {"event_groups": 5},
}
"""Made in the workflow, as a user does: some cannot be encoded."""

TAKEN: dict[str, Callable[[], workflow.ActivityConfig]] = {
    "nothing": workflow.ActivityConfig,
    "none of all": lambda: cast("workflow.ActivityConfig", {**dict.fromkeys(MAY_BE_NONE), **CALL}),
    "all": lambda: workflow.ActivityConfig(
        task_queue=workflow.info().task_queue,
        schedule_to_close_timeout=timedelta.max,
        schedule_to_start_timeout=timedelta(minutes=1),
        start_to_close_timeout=timedelta(minutes=1),
        heartbeat_timeout=timedelta(days=1),
        retry_policy=RetryPolicy(
            initial_interval=timedelta(0),
            maximum_interval=timedelta.max,
            maximum_attempts=2**31 - 1,
            non_retryable_error_types=["MemoryBusy", "TemporalTimeout:StartToClose"],
        ),
        cancellation_type=workflow.ActivityCancellationType.ABANDON,
        versioning_intent=workflow.VersioningIntent.DEFAULT,
        summary="A greeting",
        event_groups=[workflow.create_event_group("greetings")],
        priority=Priority(priority_key=6, fairness_key="e" * 64, fairness_weight=0.0),
    ),
    "one attempt": lambda: workflow.ActivityConfig(retry_policy=RetryPolicy(maximum_attempts=1, backoff_coefficient=0)),
}
"""What Temporal takes is taken: the widest that it does."""


@workflow.defn
class CallWithWrongOptions:
    """Gives a handle options that Temporal would refuse to start an activity with."""

    @workflow.run
    async def run(self, kind: str, config: str, queue: str | None) -> None:
        """See class."""
        options: dict[str, Any] = {
            "task_queue": queue,
            "activity_config": CONFIGS[config]() if config in CONFIGS else None,
        }
        handle = Agent("clerk", **options) if kind == "agent" else AgentMemory("chat", key="anna", **options)
        await handle.record_turn("Hello.")


@workflow.defn
class CallWithOptions:
    """Gives a handle options that Temporal takes."""

    @workflow.run
    async def run(self, config: str) -> int:
        """Returns how many messages were appended."""
        return (await AgentMemory("chat", key="anna", activity_config=TAKEN[config]()).append("Hello.")).messages
