"""What a test sees from outside a workflow: its history, its failure, and things that happen after a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ActivityError, ApplicationError

_Found = TypeVar("_Found")


async def eventually(look: Callable[[], Awaitable[_Found]], *, seconds: float = 120) -> _Found:
    """Returns the first truthy thing that `look` sees; fails the test if there is none for too long."""
    async with asyncio.timeout(seconds):
        while not (found := await look()):  # noqa: ASYNC110 - what is looked at is elsewhere and gives no sign
            await asyncio.sleep(0.05)
        return found


async def fault_of(outcome: Awaitable[Any]) -> ApplicationError:
    """Returns the application error at the root of a workflow's failure."""
    with pytest.raises(WorkflowFailureError) as caught:
        await outcome
    cause: BaseException | None = caught.value.cause
    while isinstance(cause, ActivityError):
        cause = cause.cause
    assert isinstance(cause, ApplicationError), repr(cause)
    return cause


async def activities_of(handle: WorkflowHandle[Any, Any]) -> list[str]:
    """Returns the types of the activities that a run scheduled, in order."""
    return [
        event.activity_task_scheduled_event_attributes.activity_type.name
        async for event in handle.fetch_history_events()
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]


async def attempts_of(handle: WorkflowHandle[Any, Any], activity: str) -> list[int]:
    """Returns how many attempts each finished call of an activity took, in the order of their ends."""
    scheduled: dict[int, str] = {}
    attempts = []
    async for event in handle.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            scheduled[event.event_id] = event.activity_task_scheduled_event_attributes.activity_type.name
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED:
            started = event.activity_task_started_event_attributes
            if scheduled[started.scheduled_event_id] == activity:
                attempts.append(started.attempt)
    return attempts


async def event_types_of(handle: WorkflowHandle[Any, Any]) -> list[int]:
    """Returns the types of all events of a run."""
    return [event.event_type async for event in handle.fetch_history_events()]
