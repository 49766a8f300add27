"""Requests and answers as each release wrote them: callers that were built against one are served by the next.

tests/fixtures/wire/v<contract>/ is never edited, only added to; see CONTRIBUTING.md.
"""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from durable_memory import AppendResult
from durable_memory.activities import wire
from durable_memory.activities.operations import PUBLIC
from durable_memory.activities.wire_schema import wire_schema
from durable_memory.memory.types.answers import from_json, to_json
from tests.integration.temporal.flows.by_name import CallByName
from tests.integration.temporal.rig import Rig, unique

FOLDER = Path(__file__).parents[2] / "fixtures" / "wire" / "v1"
PAIRS = sorted(path.stem for path in FOLDER.glob("*.request*.json"))
"""memory.append.request, and memory.append.request.<more> for what came later; each has an answer of that name."""
SCHEMA = wire_schema()

ANSWERS: dict[str, type] = {**{name: public.answer for name, public in PUBLIC.items()}, wire.EXECUTE: AppendResult}
"""As what workflows read each answer; that of memory.execute is the answer of the append that its fixture names."""


MORE_THAN_THE_LEAST = {wire.CLEAR: ["confirm"], wire.EXECUTE: ["resource", "key", "payload"]}
"""Fields that may be left out of some requests of this type, but not of these."""


def fixture(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return data


def activity_of(pair: str) -> str:
    return pair.partition(".request")[0]


def read(pair: str, answer: dict[str, Any]) -> Any:
    """What a workflow knows of an answer once it has read it."""
    return to_json(from_json(ANSWERS[activity_of(pair)], answer))


def answer_to(pair: str) -> dict[str, Any]:
    return fixture(pair.replace(".request", ".answer"))


def closed(node: Any) -> Any:
    """Returns a schema that refuses fields it does not name."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    inner = {key: closed(value) for key, value in node.items()}
    objects = node.get("type") == "object" and "properties" in node and node["properties"].keys() != {"type"}
    return {"additionalProperties": False, **inner} if objects else inner


def validate(name: str, side: str, data: dict[str, Any]) -> None:
    schema = {**SCHEMA["properties"][name]["properties"][side], "$defs": closed(SCHEMA["$defs"])}
    Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(data)


def known_then(read: Any, answer: Any) -> Any:
    """The part of what is read today that the answer of then had fields for."""
    if isinstance(answer, dict):
        return {name: known_then(read[name], value) for name, value in answer.items()}
    if isinstance(answer, list) and len(read) == len(answer):
        return [known_then(*pair) for pair in zip(read, answer, strict=True)]
    return read


def paths(data: Any, path: str = "") -> set[str]:
    """The fields of an answer; items of a list are not told apart."""
    if isinstance(data, list):
        return set().union(*(paths(item, f"{path}[]") for item in data))
    if not isinstance(data, dict):
        return set()
    return {f"{path}.{name}" for name in data}.union(*(paths(value, f"{path}.{name}") for name, value in data.items()))


def test_there_is_a_fixture_for_each_request_and_answer() -> None:
    assert {activity_of(pair) for pair in PAIRS} == PUBLIC.keys()
    assert {path.stem for path in FOLDER.iterdir()} == {*PAIRS, *(pair.replace("request", "answer") for pair in PAIRS)}


async def send_for_agent(rig: Rig, name: str, request: dict[str, Any]) -> dict[str, Any]:
    """Sends a request about all memories of an agent, which hold the turn of the fixtures."""
    turn = {
        **fixture("memory.record_agent_turn.request"),
        "input": request["input"],
        "operation_id": request.get("operation_id"),
    }
    await rig.run(CallByName.run, wire.RECORD_AGENT_TURN, turn)
    answer: dict[str, Any] = await rig.run(CallByName.run, name, request)
    return answer


async def send(rig: Rig, name: str, request: dict[str, Any]) -> dict[str, Any]:
    """Sends a request about a memory of this test's own, which holds what the append of the fixtures wrote."""
    user = unique("user")
    if name == wire.EXECUTE:
        executed: dict[str, Any] = await rig.run(CallByName.run, name, {**request, "key": f"user:{user}"})
        return executed
    if "agent" in request:
        return await send_for_agent(rig, name, {**request, "input": {"trip_id": user}})
    first = fixture("memory.append.request")
    by_input = "input" in request["memory"]
    place = {"input": dict.fromkeys(request["memory"]["input"], user)} if by_input else {"key": f"user:{user}"}
    request = {**request, "memory": {**request["memory"], **place}}
    if name not in {wire.APPEND, wire.RECORD_TURN, wire.WRITE}:
        first["memory"] = request["memory"]
        appended = await rig.run(CallByName.run, wire.APPEND, first)
        # Only the ids are of today: those in the file are of a memory that is long gone.
        request.update({"ids": appended["ids"]} if "ids" in request else {})
    if name == wire.RESTORE:
        ending = {"memory": request["memory"], "confirm": True, "backup": True}
        request["backup_id"] = (await rig.run(CallByName.run, wire.CLEAR, ending))["backup_id"]
    answer: dict[str, Any] = await rig.run(CallByName.run, name, request)
    return answer


@pytest.mark.parametrize("pair", PAIRS)
async def test_a_request_of_an_older_caller_gets_an_answer_that_it_can_read(rig: Rig, pair: str) -> None:
    name, request = activity_of(pair), fixture(pair)
    validate(name, "request", request)
    answer = await send(rig, name, request)
    validate(name, "answer", answer)
    assert paths(answer_to(pair)) <= paths(answer)


@pytest.mark.parametrize("name", PUBLIC)
async def test_a_caller_that_sends_the_least_is_answered_too(rig: Rig, name: str) -> None:
    needed = [*SCHEMA["$defs"][PUBLIC[name].request.__name__]["required"], *MORE_THAN_THE_LEAST.get(name, ())]
    answer = await send(rig, name, {field: fixture(f"{name}.request")[field] for field in needed})
    validate(name, "answer", answer)


@pytest.mark.parametrize("pair", PAIRS)
def test_an_answer_of_an_older_worker_is_read_as_it_was_meant(pair: str) -> None:
    answer = answer_to(pair)
    assert known_then(read(pair, answer), answer) == answer


@pytest.mark.parametrize("pair", PAIRS)
def test_what_a_newer_worker_adds_to_an_answer_is_ignored(pair: str) -> None:
    answer = answer_to(pair)
    newer = deepcopy(answer)
    messages = newer["messages"] if isinstance(newer.get("messages"), list) else []
    parts = [newer, newer.get("result"), newer.get("omitted"), *nested(newer, "stats")]
    for record in [*parts, *messages, *(message.get("provenance") for message in messages)]:
        if record is not None:
            record["added_later"] = {"deep": [1]}
    assert newer != answer
    assert read(pair, newer) == read(pair, answer)


def nested(answer: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """A part of an answer, with its own parts."""
    return [answer[name], answer[name]["omitted"]] if name in answer else []
