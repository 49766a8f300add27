"""Workflows that ended are settled when the server has closed them, a few at a time, and not for ever."""

from __future__ import annotations

import asyncio

import pytest

from durable_memory.memory.errors import MemoryDamaged, MemoryUnavailable
from durable_memory.running import ended_workflows
from durable_memory.running.ended_workflows import EndedWorkflows
from tests.logs import said_by


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ended_workflows, "_PAUSES_SECONDS", (0, 0, 0))


class Settling:
    """Says of each workflow so many times that it has not ended."""

    def __init__(self, not_yet: int) -> None:
        self.asked = list[str]()
        self.at_once = self.most_at_once = 0
        self._not_yet = not_yet

    async def __call__(self, workflow_id: str) -> bool:
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        self.asked.append(workflow_id)
        return self.asked.count(workflow_id) > self._not_yet


@pytest.mark.parametrize(("not_yet", "times"), [(0, 1), (1, 2), (9, 3)])
async def test_each_is_asked_for_until_it_has_ended_or_is_left_to_the_janitor(not_yet: int, times: int) -> None:
    before, settling = asyncio.all_tasks(), Settling(not_yet)
    ended = EndedWorkflows(settling)
    async with ended.settling():
        for number in range(20):
            ended.note(f"workflow {number}")
        await asyncio.wait(asyncio.all_tasks() - before)
    assert {settling.asked.count(f"workflow {number}") for number in range(20)} == {times}
    assert settling.most_at_once == 8


async def test_of_thousands_that_end_at_once_the_janitor_gets_some() -> None:
    before, settling = asyncio.all_tasks(), Settling(0)
    ended = EndedWorkflows(settling)
    async with ended.settling():
        for number in range(1_500):
            ended.note(f"workflow {number}")
        await asyncio.wait(asyncio.all_tasks() - before)
    assert len(settling.asked) == 1_000


async def test_what_has_begun_when_the_last_worker_stops_is_done_to_its_end_and_nothing_else_begins() -> None:
    begun, gate, done = asyncio.Event(), asyncio.Event(), list[str]()

    async def settle(workflow_id: str) -> bool:
        begun.set()
        await gate.wait()
        done.append(workflow_id)
        return False

    before, ended = asyncio.all_tasks(), EndedWorkflows(settle)
    async with ended.settling():
        ended.note("begun")
        await begun.wait()
        asyncio.get_running_loop().call_later(0.01, gate.set)
    ended.note("too late")
    assert done == ["begun"]
    assert asyncio.all_tasks() == before


async def test_what_does_not_end_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ended_workflows, "_CLOSE_SECONDS", 0)
    begun = asyncio.Event()

    async def never(_: str) -> bool:
        begun.set()
        await asyncio.Event().wait()
        return True

    before, ended = asyncio.all_tasks(), EndedWorkflows(never)
    async with ended.settling():
        ended.note("workflow")
        await begun.wait()
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        ([MemoryUnavailable("Redis is away"), MemoryUnavailable("Redis is away")], []),
        (
            [MemoryDamaged("keys are missing")],
            ["what a workflow owned was not settled at its end (keys are missing); the janitor settles it"],
        ),
        (
            [ValueError("the password of Ann is 1234")],
            ["what a workflow owned was not settled at its end (ValueError); the janitor settles it"],
        ),
    ],
)
async def test_a_redis_that_is_away_is_asked_again_and_other_errors_are_told_without_content(
    caplog: pytest.LogCaptureFixture, errors: list[Exception], said: list[str]
) -> None:
    waiting, asked = [*errors], list[str]()

    async def settle(workflow_id: str) -> bool:
        asked.append(workflow_id)
        if waiting:
            raise waiting.pop(0)
        return True

    before, ended = asyncio.all_tasks(), EndedWorkflows(settle)
    async with ended.settling():
        ended.note("workflow")
        await asyncio.wait(asyncio.all_tasks() - before)
    assert [record.getMessage() for record in said_by(caplog, ended_workflows.__name__)] == said
    assert len(asked) == (1 if said else 3)
