"""The schema for callers in other languages says what the types say, and is what stands in docs/."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from durable_memory.activities.operations import PUBLIC
from durable_memory.activities.parsing import parse
from durable_memory.activities.wire_schema import wire_schema
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.types import InvalidValue, Message, Provenance, ToolCall, as_messages

COMMITTED = Path(__file__).parents[3] / "docs" / "wire.schema.json"
SCHEMA = wire_schema()
MEMORY = {"resource": "chat", "key": "user:42"}
HELLO = {"role": "user", "content": "Hello."}


def part(name: str) -> Draft202012Validator:
    """Returns a validator of one definition."""
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})


def test_the_committed_file_is_what_the_types_give() -> None:
    made = json.dumps(SCHEMA, ensure_ascii=False, indent=2) + "\n"
    assert COMMITTED.read_text() == made, "durable-memory schema --wire > docs/wire.schema.json"


def test_the_contract_is_a_schema_that_names_every_public_activity() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert list(SCHEMA["properties"]) == list(PUBLIC)


REQUESTS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "the least": ("memory.append", {"memory": MEMORY, "messages": [HELLO]}, True),
    "null for what is not given": (
        "memory.append",
        {"memory": MEMORY, "messages": [HELLO], "operation_id": None},
        True,
    ),
    "a misspelt field": ("memory.append", {"memory": MEMORY, "messages": [HELLO], "operationid": "a"}, False),
    "a missing field": ("memory.append", {"memory": MEMORY}, False),
    "a misspelt field of the memory": ("memory.stats", {"memory": {"ressource": "chat"}}, False),
    "no resource": ("memory.stats", {"memory": {"key": "user:42"}}, False),
    "input instead of a key": ("memory.stats", {"memory": {"resource": "chat", "input": {"user_id": 42}}}, True),
    "text for a number": ("memory.read", {"memory": MEMORY, "limit": "5"}, False),
    "a section that is no name": ("memory.read", {"memory": MEMORY, "sections": [7]}, False),
    "a known section": ("memory.read", {"memory": MEMORY, "sections": ["long_term"], "max_tokens": 9}, True),
    "one id instead of a list": ("memory.touch", {"memory": MEMORY, "ids": "a"}, False),
    "text for a boolean": ("memory.clear", {"memory": MEMORY, "confirm": "yes"}, False),
    "text instead of messages": ("memory.write", {"memory": MEMORY, "messages": "Hello."}, False),
}


@pytest.mark.parametrize("case", REQUESTS)
def test_the_schema_and_the_worker_agree_on_a_request(case: str) -> None:
    name, request, right = REQUESTS[case]
    assert part(PUBLIC[name].request.__name__).is_valid(request) is right
    assert read_by_the_worker(name, request) is right


def read_by_the_worker(name: str, request: dict[str, Any]) -> bool:
    try:
        parse(PUBLIC[name].request, request)
    except MemoryInvalid:
        return False
    return True


MESSAGES: dict[str, tuple[dict[str, Any], bool]] = {
    "a call": ({"role": "assistant", "tool_calls": [ToolCall("c1", "track").to_dict()]}, True),
    "a result": ({"role": "tool", "tool_call_id": "c1", "content": ""}, True),
    "parts": ({"role": "user", "content": [{"type": "text", "text": "Hello."}, {"type": "anything", "x": 1}]}, True),
    "a part without a type": ({"role": "user", "content": [{"text": "Hello."}]}, False),
    "what a view showed": ({**HELLO, "id": "1-2-3", "section": "short_term", "tokens": 7, "metadata": {"a": 1}}, True),
    "a section of the resource's own": ({**HELLO, "section": "bookings"}, True),
    "a number for a section": ({**HELLO, "section": 7}, False),
    "a misspelt field": ({**HELLO, "pined": True}, False),
    "an unknown role": ({"role": "developer", "content": "Be kind."}, False),
    "no role": ({"content": "Hello."}, False),
    "a number for text": ({"role": "user", "content": 7}, False),
    "what a newer view showed": ({**HELLO, "provenance": {"added_later": 1}}, True),
    "a misspelt field of a call": (
        {"role": "assistant", "tool_calls": [{**ToolCall("c1", "track").to_dict(), "tpye": "function"}]},
        False,
    ),
    "a call without a name": ({"role": "assistant", "tool_calls": [{"id": "c1", "type": "function"}]}, False),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_the_schema_and_the_worker_agree_on_a_message(case: str) -> None:
    message, right = MESSAGES[case]
    assert part("MessageInput").is_valid(message) is right
    assert accepted(message) is right


def accepted(message: dict[str, Any]) -> bool:
    try:
        as_messages([message])
    except InvalidValue:
        return False
    return True


TEXT = st.text(min_size=1)
STORED = st.builds(
    Message.assistant,
    TEXT | st.just([{"type": "text", "text": "Hello."}]),
    tool_calls=st.lists(st.builds(ToolCall, TEXT, TEXT, TEXT), max_size=2),
    name=st.none() | TEXT,
    agent=st.none() | TEXT,
    pinned=st.booleans(),
    metadata=st.dictionaries(st.text(), st.integers() | st.text(), max_size=2),
    id=st.none() | TEXT,
    section=st.none() | st.sampled_from(["system", "long_term", "short_term"]),
    tokens=st.none() | st.integers(0),
    tokens_estimated=st.booleans(),
    created_at=st.none() | st.datetimes(),
    provenance=st.none() | st.builds(Provenance, st.none() | TEXT, st.none() | TEXT, st.none() | TEXT),
)


@given(STORED)
def test_every_message_of_an_answer_fits_its_schema_and_may_be_sent_back(message: Message) -> None:
    data = message.to_dict()
    assert set(data) <= set(SCHEMA["$defs"]["Message"]["properties"])
    part("Message").validate(data)
    part("MessageInput").validate(data)
