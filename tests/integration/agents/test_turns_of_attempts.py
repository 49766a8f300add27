"""How attempts of one activity number their turns: in the order of their calls, and apart from other calls."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from temporalio import activity
from temporalio.testing import ActivityEnvironment

from durable_memory import MemoryClient, Message
from durable_memory.memory.agents.agent import DeclaredAgent
from durable_memory.memory.memory import Memory
from tests.integration.agents.conftest import attempt_of, unique
from tests.integration.agents.recording import TURN, said
from tests.logs import said_by

TEXTS = [message.text for message in TURN]
SLOW = "-" * 20_000
"""So long that it is counted in a thread: a call made after the one that says it overtakes it."""


def order() -> activity.Info:
    """An activity of a workflow of its own, ordered now."""
    return replace(
        ActivityEnvironment.default_info(),
        workflow_id=unique("workflow"),
        workflow_run_id=unique("run"),
        scheduled_time=datetime.now(UTC),
        schedule_to_close_timeout=None,  # a second is the default, which a busy machine takes for one call
    )


async def test_turns_recorded_at_the_same_time_are_numbered_in_the_order_of_their_calls(client: MemoryClient) -> None:
    info, user = order(), unique("user")

    async def attempt(first: str, second: str) -> list[str]:
        mine = attempt_of(client, info).agent("scribe", input={"user": user})
        turns = await asyncio.gather(mine.record_turn(first), mine.record_turn(second))
        return [turn.messages[0].text[:5] for turn in turns]

    said_first = await attempt(f"first{SLOW}", "other")
    assert said_first == ["first", "other"]
    assert await attempt("again", f"still{SLOW}") == said_first


def attempts(client: MemoryClient, count: int) -> list[MemoryClient]:
    """The same memories as several attempts of one activity see them."""
    info = order()
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
    records = said_by(caplog, "durable_memory.memory.operations.turns")
    assert len(records) == warnings
    assert all("pass operation_id" in record.message and question not in record.message for record in records)


async def test_two_turns_of_one_operation_id_are_told_in_the_log_by_what_to_change(
    client: MemoryClient, caplog: pytest.LogCaptureFixture
) -> None:
    key = unique("trip:user")
    for one, question in zip([*attempts(client, 1), *attempts(client, 1)], QUESTIONS, strict=False):
        memory = one.memory("desk", key)
        await memory.record_turn([Message.user(question), Message.assistant("Yes.")], operation_id="turn-1")
    assert await said(client, "desk", key) == [QUESTIONS[0], "Yes."]
    [record] = said_by(caplog, "durable_memory.memory.operations.turns")
    assert "under its operation_id" in record.message


QUESTIONS = ("Where to?", "And back?", "Which seat?")


async def ask_all(memory: Memory | DeclaredAgent, attempt: int, *, dies_after: int | None = None) -> list[str]:
    """Records a turn for each question but those that it finds, as far as it comes."""
    answers = []
    for number, question in enumerate(QUESTIONS):
        recorded = await memory.recorded_turn()
        if recorded is not None:
            answers.append(recorded.messages[-1].text)
            continue
        turn = await memory.record_turn([Message.user(question), Message.assistant(f"{question} {attempt}")])
        answers.append(turn.messages[-1].text)
        if number == dies_after:
            break
    return answers


async def test_an_attempt_that_goes_on_behind_each_turn_that_it_finds_records_the_rest(client: MemoryClient) -> None:
    user = unique("user")
    first, second, third = (each.memory("desk", f"trip:{user}") for each in attempts(client, 3))
    assert await ask_all(first, 1, dies_after=1) == ["Where to? 1", "And back? 1"]
    answers = ["Where to? 1", "And back? 1", "Which seat? 2"]
    assert await ask_all(second, 2) == answers
    assert await ask_all(third, 3) == answers
    assert (await said(client, "desk", f"trip:{user}"))[1::2] == answers


async def test_a_turn_that_is_found_in_one_memory_of_an_agent_counts_in_all_of_them(client: MemoryClient) -> None:
    user = unique("user")
    first, second, third = (each.agent("scribe", input={"user": user}) for each in attempts(client, 3))
    await first.memories[0].record_turn(TURN)  # and dies before the other one
    found = await second.recorded_turn()
    assert found is not None
    await second.record_turn(found.messages)
    await second.record_turn([Message.user("And back?"), Message.assistant("Booked, too.")])
    assert [await third.recorded_turn() is not None for _ in range(3)] == [True, True, False]
    for resource in ("desk", "other"):
        assert await said(client, resource, f"s:{user}") == [*TEXTS, "And back?", "Booked, too."]


async def test_a_turn_that_is_found_and_recorded_again_is_one_turn(client: MemoryClient) -> None:
    user = unique("user")
    first, second = (each.memory("desk", f"trip:{user}") for each in attempts(client, 2))
    await first.record_turn(TURN)
    found = await second.recorded_turn()
    assert found is not None
    assert (await second.record_turn(found.messages)).result.already_applied
    assert await second.recorded_turn() is None
    assert not (await second.record_turn(TURN)).result.already_applied
    assert await said(client, "desk", f"trip:{user}") == [*TEXTS, *TEXTS]


async def test_agents_of_one_attempt_find_their_own_turns_in_a_memory_that_they_share(client: MemoryClient) -> None:
    user = unique("user")
    first, second = (
        [each.agent(name, input={"user": user}) for name in ("debater-a", "debater-b")] for each in attempts(client, 2)
    )
    for agent in reversed(first):  # whoever answers first: the order of another attempt may differ
        await agent.record_turn([Message.user("Which?"), Message.assistant(f"Mine, says {agent.ref.id}.")])
    found = [await agent.recorded_turn() for agent in second]
    assert [turn.messages[-1].text for turn in found if turn is not None] == [
        "Mine, says debater-a.",
        "Mine, says debater-b.",
    ]


async def test_appends_of_two_agents_in_another_order_are_repetitions(client: MemoryClient) -> None:
    key = unique("d:user")
    first, second = (
        {name: each.memory("desk", key, agent=name) for name in ("debater-a", "debater-b")}
        for each in attempts(client, 2)
    )
    for attempt, order in ((first, sorted(first)), (second, sorted(second, reverse=True))):
        for name in order:
            await attempt[name].append(f"By {name}.")
    assert await said(client, "desk", key) == ["By debater-a.", "By debater-b."]
