"""A turn by reference leaves six events and its own words in the history, however long the conversation has become."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from temporalio.api.history.v1 import HistoryEvent

from tests.integration.temporal.background import flusher_ended, messages_accounted_for
from tests.integration.temporal.flows.long_talk import LongTalk
from tests.integration.temporal.rig import Rig, running

TURNS, TURNS_OF_A_RUN = 60, 15
EVENTS, BYTES = 6, 2_000


@pytest.fixture
async def rig(temporal_address: str, redis_url: str) -> AsyncIterator[Rig]:
    async with running(temporal_address, redis_url, workflows=[LongTalk]) as rig:
        yield rig


async def runs_of(rig: Rig, workflow_id: str, run_id: str | None) -> list[list[HistoryEvent]]:
    """Follows a chain from its first run on."""
    runs = []
    while run_id:
        handle = rig.client.get_workflow_handle(workflow_id, run_id=run_id)
        runs.append([event async for event in handle.fetch_history_events()])
        run_id = runs[-1][-1].workflow_execution_continued_as_new_event_attributes.new_execution_run_id
    return runs


def turns_of(run: list[HistoryEvent]) -> list[list[HistoryEvent]]:
    """Cuts a run at the activities of its turns; the last turn is left out, since the end of the run follows it."""
    begins = [
        place
        for place, event in enumerate(run)
        if event.activity_task_scheduled_event_attributes.activity_type.name == "model_turn"
    ]
    return [run[begin:end] for begin, end in pairwise(begins)]


def bytes_of(turn: list[HistoryEvent]) -> int:
    return sum(event.ByteSize() for event in turn)


async def test_a_turn_by_reference_costs_the_same_at_the_end_of_a_long_conversation(rig: Rig) -> None:
    handle = await rig.start(LongTalk.run, "key", 0, TURNS, TURNS_OF_A_RUN)
    await handle.result()
    runs = [turns_of(run) for run in await runs_of(rig, handle.id, handle.first_execution_run_id)]
    assert [len(run) for run in runs] == [TURNS_OF_A_RUN - 1] * (TURNS // TURNS_OF_A_RUN)
    assert {len(turn) for run in runs for turn in run} == {EVENTS}
    assert max(bytes_of(turn) for run in runs for turn in run) <= BYTES
    # A few bytes more for numbers of more digits.
    assert max(map(bytes_of, runs[-1])) <= max(map(bytes_of, runs[0])) * 1.02
    memory = rig.memory("chat", "key")
    await flusher_ended(rig, memory)
    assert await messages_accounted_for(memory) == 2 * TURNS
