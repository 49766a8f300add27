"""Counts what turns leave in a history: events and bytes, run by run of a chain."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

TURNS = ("turn_by_reference", "answer_to_view")
"""The activities of which each turn has one."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Means over the turns of one run. texts: the bytes that are the user's words or the model's."""

    events: float
    bytes: float
    texts: float
    last_bytes: int


async def costs_of(client: Client, workflow_id: str, run_id: str | None) -> list[Cost]:
    """Follows a chain from its first run on."""
    costs = []
    while run_id:
        handle = client.get_workflow_handle(workflow_id, run_id=run_id)
        events = [event async for event in handle.fetch_history_events()]
        costs.append(_cost(events))
        run_id = events[-1].workflow_execution_continued_as_new_event_attributes.new_execution_run_id
    return costs


def _cost(events: list[HistoryEvent]) -> Cost:
    """A turn lasts from its activity to that of the next one: where a run begins and ends is no part of any."""
    begins = [
        place
        for place, event in enumerate(events)
        if event.activity_task_scheduled_event_attributes.activity_type.name in TURNS
    ]
    turns = [events[begin:end] for begin, end in pairwise(begins)]
    sizes = [sum(event.ByteSize() for event in turn) for turn in turns]
    return Cost(
        events=sum(map(len, turns)) / len(turns),
        bytes=sum(sizes) / len(turns),
        texts=sum(_texts(event) for turn in turns for event in turn) / len(turns),
        last_bytes=sizes[-1],
    )


def _texts(event: HistoryEvent) -> int:
    """The bytes of the question in the input and of the answer in the result of a turn's activity."""
    given = event.activity_task_scheduled_event_attributes.input.payloads
    answered = event.activity_task_completed_event_attributes.result.payloads
    return sum(len(payload.data) for payload in (*given[-1:], *answered))
