"""The janitor's sweep as an activity: one bounded part of it a call."""

from __future__ import annotations

from typing import Final

from temporalio import activity

from durable_memory.activities import internal_requests, operations
from durable_memory.activities.answers import JsonObject, answer_of
from durable_memory.activities.current import client_of_project
from durable_memory.activities.defining import Activities
from durable_memory.activities.heartbeat import heartbeating
from durable_memory.activities.runs import TemporalRuns
from durable_memory.activities.waker import TemporalWaker
from durable_memory.memory.janitor.sweep import Janitor

_SECONDS: Final = 20
"""After this time a call answers how far it came; the page it is at is finished."""

ACTIVITIES: Final = Activities()


@ACTIVITIES.serve(operations.SWEEP)
async def sweep(asked: internal_requests.SweepRequest) -> JsonObject:
    """Sweeps on from a position, and answers how far it came."""
    client = client_of_project(asked.project)
    temporal = activity.client()
    # The janitor runs on the project's queue, and so do flushers.
    waker = TemporalWaker(temporal, activity.info().task_queue)
    async with heartbeating():
        swept = await Janitor(client, TemporalRuns(temporal), waker.revive).sweep(asked.position, seconds=_SECONDS)
    return answer_of(internal_requests.SweepAnswer(swept.position, swept.counts))
