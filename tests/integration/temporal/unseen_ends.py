"""Ends that no worker sees: somebody terminates a workflow, or its time is over."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowFailureError, WorkflowHandle

from tests.integration.temporal.flows.endings import End
from tests.integration.temporal.observing import event_types_of, eventually
from tests.integration.temporal.rig import Rig, unique

TERMINATION = "terminate"
UNSEEN_ENDS = (TERMINATION, "execution timeout", "run timeout")


async def end_unseen(rig: Rig, how: str) -> tuple[WorkflowHandle[Any, Any], str]:
    """Returns a run that has written to a `scratch` memory and came to one of these ends, and the memory's key."""
    if how == TERMINATION:
        key = unique("key")
        handle = await rig.start(End.run, "scratch", key, "wait")
        await eventually(lambda: has_written(handle))
        await handle.terminate()
        await ended(handle)
        return handle, key
    # On a slow machine the time of a run is over before it has written; the next one gets more.
    for seconds in (1, 4, 16, 64):
        key = unique("key")
        limit = {how.replace(" ", "_"): timedelta(seconds=seconds)}
        handle = await rig.start(End.run, "scratch", key, "wait", **limit)
        await ended(handle)
        if await has_written(handle):
            return handle, key
    pytest.fail("no run has written within a minute")


async def has_written(handle: WorkflowHandle[Any, Any]) -> bool:
    return EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED in await event_types_of(handle)


async def ended(handle: WorkflowHandle[Any, Any]) -> None:
    with pytest.raises(WorkflowFailureError):
        await handle.result()
