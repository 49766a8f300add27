"""Attempts that begin or go on long after their activity was scheduled: they write, and nothing is ever doubled."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio import activity
from temporalio.testing import ActivityEnvironment

from durable_memory import MemoryClient, MemoryRef, Message, current_memory_client
from durable_memory.memory.errors import MemoryOperationExpired, MemoryUnavailable
from durable_memory.memory.stores.starts_port import Starts
from durable_memory.testing import MemoryActivityEnvironment
from tests.integration.agents.conftest import attempt_of, unique
from tests.integration.agents.recording import said

WEEKEND = timedelta(hours=60)


def ago(**units: float) -> datetime:
    """A moment in the past."""
    return datetime.now(UTC) - timedelta(**units)


def late(client: MemoryClient, waited: timedelta = WEEKEND) -> MemoryActivityEnvironment:
    """An activity that no worker took for so long."""
    environment = MemoryActivityEnvironment(client)
    environment.info = replace(environment.info, scheduled_time=datetime.now(UTC) - waited)
    return environment


def info_of(**values: Any) -> activity.Info:
    """What Temporal says of an attempt of an activity that was scheduled a weekend ago."""
    scheduled = datetime.now(UTC) - WEEKEND
    return replace(
        ActivityEnvironment.default_info(),
        workflow_run_id=unique("run"),
        schedule_to_close_timeout=None,
        **{
            "scheduled_time": scheduled,
            "current_attempt_scheduled_time": scheduled,
            "started_time": datetime.now(UTC),
            **values,
        },
    )


async def never() -> bool:
    """Temporal knows another attempt."""
    return False


async def not_asked() -> bool:
    """Nobody may ask Temporal."""
    raise AssertionError


async def does_nothing() -> None:
    """Uses no memory."""


async def records(key: str) -> str:
    """Asks a model that never says the same twice, and records the turn and a note."""
    memory = current_memory_client().memory(MemoryRef("desk", key))
    turn = await memory.record_turn([Message.user("To Lyon, please."), Message.assistant(unique("Booked"))])
    await memory.append("noted")
    return turn.messages[-1].text


async def does_everything(key: str) -> list[str]:
    """Makes each call that writes."""
    memory = current_memory_client().memory(MemoryRef("desk", key))
    ids = (await memory.append(["one", "two"])).ids
    await memory.pin(ids[:1])
    await memory.unpin(ids[:1])
    await memory.delete(ids[1:])
    backup = (await memory.clear(confirm=True, backup=True)).backup_id
    await memory.write("three")
    await memory.restore(backup or "")
    await memory.flush(force=True)
    await memory.record_turn("four")
    return [message.text for message in (await memory.read()).messages]


async def test_an_activity_that_no_worker_took_for_a_weekend_makes_every_call(client: MemoryClient) -> None:
    assert (await late(client).run(does_everything, unique("trip:user")))[-1] == "four"


async def test_the_second_attempt_of_one_that_began_late_is_answered_again(client: MemoryClient) -> None:
    key, environment = unique("trip:user"), late(client)
    first = await environment.run(records, key)
    assert await environment.run(records, key) == first
    assert environment.info.attempt == 3
    assert await said(client, "desk", key) == ["To Lyon, please.", first, "noted"]


async def test_the_second_attempt_writes_where_the_late_first_one_made_no_call(client: MemoryClient) -> None:
    key, environment = unique("trip:user"), late(client)
    await environment.run(does_nothing)
    answer = await environment.run(records, key)
    assert await said(client, "desk", key) == ["To Lyon, please.", answer, "noted"]


async def test_a_late_attempt_whose_first_one_began_in_time_is_refused_and_told_what_to_do(
    client: MemoryClient,
) -> None:
    key, environment = unique("trip:user"), MemoryActivityEnvironment(client)
    await environment.run(records, key)
    # A day later the first attempt is forgotten; here it was an activity of its own.
    again = MemoryActivityEnvironment(client)
    again.info = replace(again.info, attempt=2, scheduled_time=ago(hours=25))
    with pytest.raises(MemoryOperationExpired, match="reset of the workflow"):
        await again.run(records, key)
    assert len(await said(client, "desk", key)) == 3


async def test_attempts_of_a_late_activity_are_refused_a_day_after_the_first_one_began(client: MemoryClient) -> None:
    environment = late(client)
    environment.info = replace(environment.info, started_time=ago(hours=25))
    await environment.run(does_nothing)
    key = unique("trip:user")
    with pytest.raises(MemoryOperationExpired):
        await environment.run(records, key)
    assert await said(client, "desk", key) == []


@pytest.mark.parametrize(
    "repeated",
    [{"attempt": 2}, {"current_attempt_scheduled_time": ago(hours=1)}, {"is_local": True}],
    ids=["a-second-attempt", "counted-from-1-after-a-reset", "a-local-activity-whose-worker-may-have-died"],
)
async def test_what_may_be_a_repetition_is_refused_and_so_is_a_first_attempt_that_comes_behind(
    client: MemoryClient, repeated: dict[str, Any]
) -> None:
    info, key = info_of(), unique("trip:user")
    with pytest.raises(MemoryOperationExpired):
        await attempt_of(client, replace(info, **repeated)).memory("desk", key).append("again")
    with pytest.raises(MemoryOperationExpired):  # else it could repeat what another attempt applied meanwhile
        await attempt_of(client, info, never).memory("desk", key).append("cut off for an hour")
    assert await said(client, "desk", key) == []


async def test_all_attempts_of_one_that_began_late_have_one_deadline_also_within_the_first_day(
    client: MemoryClient,
) -> None:
    """Else a later one could repeat what an attempt with a nearer deadline applied, and Redis forgot."""
    scheduled = ago(hours=14)
    first = info_of(scheduled_time=scheduled, current_attempt_scheduled_time=scheduled)
    second = replace(first, attempt=2, current_attempt_scheduled_time=ago(), started_time=ago())
    key, deadlines = unique("trip:user"), []
    for info in (first, second):
        caller = attempt_of(client, info).caller
        memory = client.memory("desk", key).id
        deadlines.append(await caller.next_attempt(memory).ends_ms())
    assert deadlines == [round((first.started_time + timedelta(hours=24)).timestamp() * 1000)] * 2


async def test_an_attempt_that_began_in_time_still_writes_a_day_later(client: MemoryClient) -> None:
    moment, key = ago(hours=30), unique("trip:user")
    info = info_of(scheduled_time=moment, current_attempt_scheduled_time=moment, started_time=moment)
    memory = attempt_of(client, info).memory("desk", key)
    await memory.append("at hour 30")
    await memory.record_turn("and a turn")
    assert await said(client, "desk", key) == ["at hour 30", "and a turn"]
    second = replace(info, attempt=2, current_attempt_scheduled_time=ago(), started_time=ago())
    with pytest.raises(MemoryOperationExpired):  # what it repeats may be of hour 0, and forgotten
        await attempt_of(client, second).memory("desk", key).append("at hour 30")
    assert await said(client, "desk", key) == ["at hour 30", "and a turn"]


async def test_an_attempt_that_temporal_has_given_up_writes_no_more_a_day_later(client: MemoryClient) -> None:
    moment, key = ago(hours=30), unique("trip:user")
    info = info_of(scheduled_time=moment, current_attempt_scheduled_time=moment, started_time=moment)
    with pytest.raises(MemoryOperationExpired):
        await attempt_of(client, info, never).memory("desk", key).append("a frozen machine wakes up")
    assert await said(client, "desk", key) == []


@pytest.mark.parametrize("seconds", [-30, 10], ids=["before", "after"])
async def test_near_its_deadline_an_attempt_writes_without_a_question_as_all_is_remembered(
    client: MemoryClient, seconds: float
) -> None:
    moment, key = ago(hours=24, seconds=seconds), unique("trip:user")
    info = info_of(scheduled_time=moment, current_attempt_scheduled_time=moment, started_time=moment)
    await attempt_of(client, info, not_asked).memory("desk", key).append("just in time")
    assert await said(client, "desk", key) == ["just in time"]


async def test_no_call_is_accepted_after_temporal_gave_the_activity_up(client: MemoryClient) -> None:
    moment, key = ago(hours=30), unique("trip:user")
    info = info_of(scheduled_time=moment, current_attempt_scheduled_time=moment, started_time=moment)
    for hours in (2, 29):
        limited = replace(info, schedule_to_close_timeout=timedelta(hours=hours))
        with pytest.raises(MemoryOperationExpired):
            await attempt_of(client, limited).memory("desk", key).append("too late")


class Watched:
    """Late starts that are counted, and fail as often as said."""

    def __init__(self, starts: Starts, failures: int) -> None:
        self.starts = starts
        self.failures = failures
        self.asked = 0

    async def first(self, project: str, activity: str, proposed_ms: int, kept_ms: int) -> int:
        """See Starts."""
        self.asked += 1
        if self.asked <= self.failures:
            raise MemoryUnavailable("Redis is away")
        return await self.starts.first(project, activity, proposed_ms, kept_ms)


@asynccontextmanager
async def watched(client: MemoryClient, failures: int = 0) -> AsyncIterator[Watched]:
    """Watches what a client asks of its late starts."""
    parts, starts = client.parts, client.parts.starts
    assert starts is not None
    watch = Watched(starts, failures)
    parts.starts = watch
    try:
        yield watch
    finally:
        parts.starts = starts


@pytest.mark.parametrize("waited", [timedelta(0), timedelta(hours=11)])
async def test_an_activity_that_begins_in_time_asks_nothing_more(client: MemoryClient, waited: timedelta) -> None:
    async with watched(client) as watch:
        environment, key = late(client, waited), unique("trip:user")
        await environment.run(records, key)
        await environment.run(records, key)
    assert watch.asked == 0


async def test_one_that_begins_late_asks_once(client: MemoryClient) -> None:
    async with watched(client) as watch:
        await late(client).run(records, unique("trip:user"))
    assert watch.asked == 1


async def test_while_the_store_is_away_a_late_activity_runs_and_its_first_call_asks_again(
    client: MemoryClient,
) -> None:
    async with watched(client, failures=2) as watch:
        await late(client).run(does_nothing)
        environment, key = late(client), unique("trip:user")
        answer = await environment.run(records, key)
    assert watch.asked == 3
    assert await said(client, "desk", key) == ["To Lyon, please.", answer, "noted"]


@activity.defn
def in_a_thread() -> int:
    """Says which attempt it is."""
    return activity.info().attempt


async def test_attempts_of_a_def_activity_are_counted_in_a_test_too(client: MemoryClient) -> None:
    environment = MemoryActivityEnvironment(client)
    assert [environment.run(in_a_thread) for _ in range(3)] == [1, 2, 3]
