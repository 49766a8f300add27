"""What the product's own workflows send and get is read by its types, and written by them as it stands in histories."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHistory
from temporalio.converter import default

from durable_memory.activities.internal_requests import FlusherInput, SweepAnswer
from durable_memory.activities.operations import CLEANUP, INTERNAL
from durable_memory.activities.parsing import parse
from durable_memory.memory.types.answers import from_json, to_json
from durable_memory.workflows.internal_calls import as_sent
from tests.histories.record import FOLDER

STORED = sorted(FOLDER.glob("*.json"))
FLUSHERS = [path for path in STORED if path.stem.startswith("flusher-")]
JANITORS = [path for path in STORED if path.stem.startswith("janitor-")]


def history(path: Path) -> WorkflowHistory:
    return WorkflowHistory.from_json(path.stem, path.read_text(encoding="utf-8"))


def calls(path: Path) -> Iterator[tuple[str, bytes, bytes | None]]:
    """The calls of internal activities in a history: name, request and, if there is one, the answer."""
    events = history(path).events
    answers = {
        event.activity_task_completed_event_attributes.scheduled_event_id: payload.data
        for event in events
        for payload in event.activity_task_completed_event_attributes.result.payloads
    }
    for event in events:
        asked = event.activity_task_scheduled_event_attributes
        if asked.activity_type.name in INTERNAL:
            yield asked.activity_type.name, asked.input.payloads[0].data, answers.get(event.event_id)


def written(data: Any) -> bytes:
    """As Temporal's default converter writes it."""
    return default().payload_converter.to_payload(data).data


CALLS = {f"{path.stem}-{number}": call for path in STORED for number, call in enumerate(calls(path))}
ANSWERED = [place for place, (name, _, answer) in CALLS.items() if answer is not None and name != CLEANUP.name]
"""What a cleanup counted is read by nobody."""


def test_every_internal_activity_stands_in_a_history() -> None:
    assert {name for name, _, _ in CALLS.values()} == set(INTERNAL)


@pytest.mark.parametrize("place", CALLS)
def test_a_request_is_written_as_it_stands_there(place: str) -> None:
    name, request, _ = CALLS[place]
    assert written(as_sent(parse(INTERNAL[name].request, json.loads(request)))) == request


@pytest.mark.parametrize("place", ANSWERED)
def test_an_answer_is_read_as_it_stands_there(place: str) -> None:
    name, _, answer = CALLS[place]
    said = json.loads(answer or b"")
    read = to_json(from_json(INTERNAL[name].answer, said))
    assert read == {field: said.get(field) for field in read}


@pytest.mark.parametrize("path", FLUSHERS, ids=lambda path: path.stem)
def test_the_input_of_a_flusher_is_written_as_it_stands_there(path: Path) -> None:
    started = history(path).events[0].workflow_execution_started_event_attributes
    given = json.loads(started.input.payloads[0].data)
    read = to_json(from_json(FlusherInput, given))
    assert written({field: read[field] for field in given}) == started.input.payloads[0].data


@pytest.mark.parametrize("path", JANITORS, ids=lambda path: path.stem)
def test_the_result_of_a_janitor_is_written_as_it_stands_there(path: Path) -> None:
    last = history(path).events[-1]
    assert last.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED
    [payload] = last.workflow_execution_completed_event_attributes.result.payloads
    assert written(to_json(from_json(SweepAnswer, json.loads(payload.data)))) == payload.data
