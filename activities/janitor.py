"""The janitor's sweep as an activity: one bounded part of it a call."""

from __future__ import annotations

from typing import Any, Final

from temporalio import activity

from durable_memory.activities import internal_requests, wire
from durable_memory.activities.answers import JsonObject
from durable_memory.activities.current import client_of_project
from durable_memory.activities.heartbeat import heartbeating
from durable_memory.activities.parsing import parse
from durable_memory.activities.runs import TemporalRuns
from durable_memory.activities.waker import TemporalWaker
from durable_memory.memory.janitor.sweep import Janitor

_SECONDS: Final = 20
"""After this time a call answers how far it came; the page it is at is finished."""


@activity.defn(name=wire.SWEEP)
async def sweep(request: Any = None) -> JsonObject:
    """Sweeps on from a position; answers {position, counts}, position null at the end. See SweepRequest."""
    asked = parse(internal_requests.SweepRequest, request)
    client = client_of_project(asked.project)
    temporal = activity.client()
    # The janitor runs on the project's queue, and so do flushers.
    waker = TemporalWaker(temporal, activity.info().task_queue)
    async with heartbeating():
        swept = await Janitor(client, TemporalRuns(temporal), waker.revive).sweep(asked.position, seconds=_SECONDS)
    return {"position": swept.position, "counts": dict(swept.counts)}


ACTIVITIES = (sweep,)
"""What workers of the project's queue run for the janitor."""
