"""Options of a handle that Temporal would not take end the workflow in words: its task would fail without end."""

from __future__ import annotations

import asyncio

import pytest
from temporalio import workflow
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from durable_memory.workflows.options import CHECKS
from tests.integration.temporal.flows.options import CONFIGS, TAKEN, CallWithOptions, CallWithWrongOptions
from tests.integration.temporal.observing import fault_of
from tests.integration.temporal.rig import unique

_POLICY = ".retry_policy"
_TYPES = f"{_POLICY}.non_retryable_error_types"
_ID = ".activity_id: would be that of each call of this handle, and of two at a time one fails; leave it out"
TOLD = {
    "typo": ".summry: is not a field of workflow.ActivityConfig; did you mean 'summary'?",
    "a number": ".start_to_close_timeout: is a timedelta above zero",
    "no time": ".heartbeat_timeout: is a timedelta above zero",
    "no end": ": leaves neither start_to_close_timeout nor schedule_to_close_timeout",
    "no policy": f"{_POLICY}: is a RetryPolicy, not a dict",
    "no config": ": is a workflow.ActivityConfig, not a str",
    "an empty list": ": is a workflow.ActivityConfig, not a list",
    "fewer attempts than none": f"{_POLICY}: cannot be used: Maximum attempts cannot be negative",
    "more attempts than fit": f"{_POLICY}.maximum_attempts: is at most 2,147,483,647",
    "attempts as text": f"{_POLICY}.maximum_attempts: is a whole number, not a str",
    "shorter pauses": f"{_POLICY}: cannot be used: Backoff coefficient cannot be less than 1",
    "no pauses": f"{_POLICY}.backoff_coefficient: is a finite number",
    "pauses as text": f"{_POLICY}.backoff_coefficient: is a number, not a str",
    "a first pause over the last": f"{_POLICY}: cannot be used: Maximum interval cannot be less than initial interval",
    "a pause without end": f"{_POLICY}: has an interval that is too long",
    "a pause of a number": f"{_POLICY}.initial_interval: is a timedelta, not a int",
    "a longest pause of a number": f"{_POLICY}.maximum_interval: is a timedelta, not a int",
    "an error of a number": f"{_TYPES}[0]: is text, not a int",
    "an error alone": f"{_TYPES}: is a list of names, not a str",
    "a broken error": f"{_TYPES}[0]: has NUL or half of a surrogate pair; it is no valid text",
    "an unknown timeout": f"{_TYPES}[0]: names no timeout that Temporal knows",
    "a queue of a number": ".task_queue: is not the name of a task queue",
    "a long queue": ".task_queue: has 1,002 bytes, the limit is 1,000",
    "a queue of Temporal": ".task_queue: begins with /_sys/, which is for Temporal's own task queues",
    "a blank queue": ".task_queue: is not the name of a task queue",
    "a broken queue": ".task_queue: has NUL or half of a surrogate pair; it is no valid text",
    "no priority": ".priority: is a Priority, not a str",
    "a priority too low": ".priority.priority_key: is at most 2,147,483,647",
    "a true priority": ".priority.priority_key: is a whole number, not a bool",
    "a long fairness key": ".priority.fairness_key: has 66 bytes, the limit is 64",
    "a fairness key of a number": ".priority.fairness_key: is text, not a int",
    "a weight below zero": ".priority.fairness_weight: is not below zero",
    "a weight as text": ".priority.fairness_weight: is a number, not a str",
    "an id": _ID,
    "an id of a number": _ID,
    "no cancellation": ".cancellation_type: is a workflow.ActivityCancellationType, not a str",
    "none of the cancellations": ".cancellation_type: is a workflow.ActivityCancellationType, not a NoneType",
    "no intent": ".versioning_intent: is a workflow.VersioningIntent, not a str",
    "a summary of a number": ".summary: is text, not a int",
    "a summary too long": ".summary: has 1,500,001 bytes, the limit is 1,500,000",
    "no groups": ".event_groups: is a list of what workflow.create_event_group() returns",
    "groups of a number": ".event_groups: is a list of what workflow.create_event_group() returns",
}
"""What is said of each, behind the name of the argument."""


async def test_options_that_temporal_would_refuse_fail_the_workflow(lone_client: Client) -> None:
    queue = unique("queue")

    async def fault(*given: str | None) -> ApplicationError:
        handle = await lone_client.start_workflow(
            CallWithWrongOptions.run, args=given, id=unique("run"), task_queue=queue
        )
        return await fault_of(handle.result())

    async with Worker(lone_client, task_queue=queue, workflows=[CallWithWrongOptions]):
        faults = await asyncio.wait_for(asyncio.gather(*(fault("memory", config, None) for config in CONFIGS)), 120)
        of_agent = await asyncio.wait_for(fault("agent", "an id", None), 60)
    assert {one.type for one in (*faults, of_agent)} == {"MemoryInvalid"}
    assert {
        config: one.message.removeprefix("activity_config") for config, one in zip(CONFIGS, faults, strict=True)
    } == TOLD
    assert of_agent.message == f"activity_config{_ID}"


@pytest.mark.parametrize("kind", ["memory", "agent"])
@pytest.mark.parametrize(
    ("task_queue", "told"),
    [
        ("", "task_queue: is not the name of a task queue"),
        ("q" * 2000, "task_queue: has 2,000 bytes, the limit is 1,000"),
        ("/_sys/x", "task_queue: begins with /_sys/, which is for Temporal's own task queues"),
    ],
)
async def test_a_queue_that_temporal_would_refuse_fails_the_workflow(
    lone_client: Client, kind: str, task_queue: str, told: str
) -> None:
    queue = unique("queue")
    async with Worker(lone_client, task_queue=queue, workflows=[CallWithWrongOptions]):
        handle = await lone_client.start_workflow(
            CallWithWrongOptions.run, args=[kind, "", task_queue], id=unique("run"), task_queue=queue
        )
        fault = await fault_of(handle.result())
    assert (fault.type, fault.message) == ("MemoryInvalid", told)


@pytest.mark.parametrize("config", list(TAKEN))
async def test_the_widest_options_that_temporal_takes_are_taken(lone_client: Client, config: str) -> None:
    queue = unique("queue")
    async with Worker(lone_client, task_queue=queue, workflows=[CallWithOptions]):
        running = lone_client.execute_workflow(CallWithOptions.run, config, id=unique("run"), task_queue=queue)
        assert await asyncio.wait_for(running, 60) == 1


def test_every_option_that_the_sdk_knows_is_checked() -> None:
    """A later one may add some: each needs a check, or a word that it needs none."""
    assert set(CHECKS) == set(workflow.ActivityConfig.__annotations__)
