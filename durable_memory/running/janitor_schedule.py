"""The Temporal Schedule that runs the janitor of a project again and again."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.service import RPCError

from durable_memory.activities import wire

_log = logging.getLogger(__name__)

_LONGEST_RUN: Final = timedelta(hours=1)
"""A run that finds no worker ends after this time, so that it does not keep later ones away for ever."""

_CATCH_UP: Final = timedelta(minutes=1)
"""Runs that were missed by more than this are skipped: one sweep makes up for all of them."""


def schedule_id(project: str) -> str:
    """Returns the id of a project's schedule, which the ids of its workflows begin with."""
    return f"{wire.JANITOR}/{project}"


async def ensure_janitor(client: Client, *, project: str, task_queue: str, interval: timedelta) -> None:
    """Creates the schedule, or updates it where queue, interval or input differ.

    A paused schedule stays paused. A server that refuses or knows no schedules is one warning: the rest of the product
    works without a janitor.
    """
    try:
        await _ensure(client, _schedule(project, task_queue, interval), project)
    except RPCError as error:
        _log.warning(
            "the janitor's schedule could not be ensured (%s): what terminated workflows leave stays until their "
            "memories expire, or until `durable-memory janitor`",
            error.status.name,
        )


def _schedule(project: str, task_queue: str, interval: timedelta) -> Schedule:
    return Schedule(
        action=ScheduleActionStartWorkflow(
            wire.JANITOR,
            {"project": project},
            id=schedule_id(project),
            task_queue=task_queue,
            execution_timeout=_LONGEST_RUN,
        ),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=interval)]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=_CATCH_UP),
    )


async def _ensure(client: Client, wanted: Schedule, project: str) -> None:
    try:
        await client.create_schedule(schedule_id(project), wanted)
    except ScheduleAlreadyRunningError:
        handle = client.get_schedule_handle(schedule_id(project))
        found = (await handle.describe()).schedule
        if _essence(found, await _input(client, found)) != _essence(wanted, {"project": project}):
            await handle.update(lambda current: _replacing(current, wanted))
            _log.info("the janitor's schedule was brought up to date", extra={"schedule": schedule_id(project)})


def _replacing(current: ScheduleUpdateInput, wanted: Schedule) -> ScheduleUpdate:
    return ScheduleUpdate(replace(wanted, state=current.description.schedule.state))


def _essence(schedule: Schedule, given: object) -> tuple[object, ...]:
    """Returns what has to be as wanted. given: the input of its workflow."""
    action = schedule.action
    if not isinstance(action, ScheduleActionStartWorkflow):
        return ()
    return (
        given,
        action.workflow,
        action.task_queue,
        action.execution_timeout,
        [interval.every for interval in schedule.spec.intervals],
        schedule.policy.overlap,
    )


async def _input(client: Client, described: Schedule) -> object:
    """Returns the input of a schedule as it was described; None for one that cannot be read or is not one value."""
    payloads: Any = described.action.args if isinstance(described.action, ScheduleActionStartWorkflow) else []
    try:
        values = await client.data_converter.decode(payloads)
    except Exception:  # noqa: BLE001 - the converter is the user's, who may have changed its keys: it is written anew
        return None
    return values[0] if len(values) == 1 else None
