"""How attempts of one activity number their turns: in the order of their calls, and apart from other calls."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from temporalio.testing import ActivityEnvironment

from durable_memory import MemoryClient, Message
from tests.integration.agents.conftest import attempt_of, unique
from tests.integration.agents.test_record_turn import TURN, said
from tests.logs import said_by

SLOW = "-" * 20_000
"""So long that it is counted in a thread: a call made after the one that says it overtakes it."""


async def test_turns_recorded_at_the_same_time_are_numbered_in_the_order_of_their_calls(client: MemoryClient) -> None:
    info = replace(ActivityEnvironment.default_info(), workflow_run_id=unique("run"), scheduled_time=datetime.now(UTC))
    user = unique("user")

    async def attempt(first: str, second: str) -> list[str]:
        mine = attempt_of(client, info).agent("scribe", input={"user": user})
        turns = await asyncio.gather(mine.record_turn(first), mine.record_turn(second))
        return [turn.messages[0].text[:5] for turn in turns]

    said_first = await attempt(f"first{SLOW}", "other")
    assert said_first == ["first", "other"]
    assert await attempt("again", f"still{SLOW}") == said_first


def attempts(client: MemoryClient, count: int) -> list[MemoryClient]:
    """The same memories as several attempts of one activity see them."""
    info = replace(
        ActivityEnvironment.default_info(),
        workflow_id=unique("workflow"),
        workflow_run_id=unique("run"),
        scheduled_time=datetime.now(UTC),
    )
    return [attempt_of(client, replace(info, attempt=1 + number)) for number in range(count)]


async def test_another_call_of_an_earlier_attempt_passes_for_no_turn(client: MemoryClient) -> None:
    user = unique("user")
    first, second, third = (each.memory("desk", f"trip:{user}") for each in attempts(client, 3))
    await first.append(Message.system("The desk is open."))
    assert await second.recorded_turn() is None
    turn = await second.record_turn(TURN)
    assert not turn.result.already_applied
    recorded = await third.recorded_turn()
    assert recorded is not None
    assert [message.text for message in recorded.messages] == ["To Lyon, please.", "Booked."]
    assert await said(client, "desk", f"trip:{user}") == ["The desk is open.", "To Lyon, please.", "Booked."]


@pytest.mark.parametrize(
    ("question", "warnings"),
    [("To Lyon, please.", 0), ("And back on Friday.", 1)],
    ids=["the-same-question", "another-question"],
)
async def test_a_turn_that_is_taken_for_the_repetition_of_another_one_is_told_in_the_log(
    client: MemoryClient, caplog: pytest.LogCaptureFixture, question: str, warnings: int
) -> None:
    user = unique("user")
    first, second = (each.memory("desk", f"trip:{user}") for each in attempts(client, 2))
    await first.record_turn(TURN)
    again = await second.record_turn([Message.user(question), Message.assistant("Another answer.")])
    assert [message.text for message in again.messages] == ["To Lyon, please.", "Booked."]
    records = said_by(caplog, "durable_memory.memory.turns")
    assert len(records) == warnings
    assert all("pass operation_id" in record.message and question not in record.message for record in records)
