"""memory.execute runs any operation by its name, with the checks of the operation's own activity."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from durable_memory import MemoryClient
from durable_memory.activities import wire
from durable_memory.activities.current import serving
from durable_memory.activities.execute import OPERATIONS, run_operation
from durable_memory.activities.operations import PUBLIC
from durable_memory.activities.served import EVERY_WORKER
from durable_memory.memory.errors import MemoryAccessDenied, MemoryFault, MemoryInvalid, MemoryOperationConflict
from durable_memory.memory.tokens.counting import DEFAULT_ENCODING
from durable_memory.memory.tokens.encodings import SHARED
from tests.integration.agents.conftest import PROJECT, Desk, unique
from tests.integration.agents.declared import declarations
from tests.integration.agents.flows import CallByName
from tests.integration.cli.programs import run_program

HELLO = {"messages": [{"role": "user", "content": "Hello."}]}
PAYLOADS: dict[str, Callable[[str], Mapping[str, Any]]] = {
    "append": lambda _: HELLO,
    "record_turn": lambda _: HELLO,
    "write": lambda _: HELLO,
    "record_agent_turn": lambda _: HELLO,
    "touch": lambda stored: {"ids": [stored]},
    "pin": lambda stored: {"ids": [stored]},
    "unpin": lambda stored: {"ids": [stored]},
    "delete": lambda stored: {"ids": [stored]},
    "clear": lambda _: {"confirm": True},
}
"""What an operation needs beside the memory; the argument is the id of a stored message."""

OF_AGENTS = ("context", "record_agent_turn", "recorded_agent_turn")


async def execute(client: MemoryClient, operation: str, payload: Mapping[str, Any] | None = None, **more: Any) -> Any:
    """Runs a request in the name of a program that has this client."""
    with serving(client):
        return await run_operation({"operation": operation, "payload": dict(payload or {}), **more})


def test_every_public_operation_can_be_executed() -> None:
    assert {f"memory.{name}" for name in OPERATIONS} == PUBLIC.keys() - {wire.EXECUTE}


@pytest.fixture(scope="module", autouse=True)
async def _counted() -> None:
    """On a busy machine the first texts would be estimated, and those of the answer beside it not."""
    assert await SHARED.get(DEFAULT_ENCODING, 60)


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_an_operation_answers_what_its_own_activity_answers(client: MemoryClient, operation: str) -> None:
    answers = []
    for way in ("execute", "own"):
        user = unique("user")
        key = f"s:{user}"
        place: dict[str, Any] = {"agent": "scribe", "input": {"user": user}}
        named = {"operation_id": "turn"} if operation in ("recorded_turn", "recorded_agent_turn") else {}
        stored = (await client.memory("desk", key).append("Stored.")).ids[0]
        payload = dict(PAYLOADS[operation](stored)) if operation in PAYLOADS else {}
        if operation == "restore":
            payload = {"backup_id": (await client.memory("desk", key).clear(confirm=True, backup=True)).backup_id}
        resource = {} if operation in OF_AGENTS else {"resource": "desk"}
        if way == "execute":
            answers.append(await execute(client, operation, payload, **place, **resource, **named))
        else:
            own_place = {"memory": {**resource, **place}} if resource else place
            with serving(client):
                answers.append(await EVERY_WORKER[f"memory.{operation}"]({**payload, **own_place, **named}))
    executed, own = answers
    assert shape(executed) == shape(own)


def shape(answer: Any) -> Any:
    """An answer without what differs from call to call: ids, versions and times."""
    if isinstance(answer, dict):
        return {name: shape(value) for name, value in sorted(answer.items())}
    if isinstance(answer, list):
        return [shape(item) for item in answer]
    return type(answer).__name__ if isinstance(answer, str) else answer


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        ({"operation": "apend", "resource": "desk"}, "operation: is not one of append, .*did you mean 'append'?"),
        ({"operation": "memory.read", "resource": "desk"}, "did you mean 'read'?"),
        ({"operation": "flush.begin"}, "operation: is not one of"),
        ({"operation": "execute"}, "operation: is not one of"),
        ({"operation": "read"}, "resource: is missing; read works on one memory"),
        ({"operation": "context"}, "agent: is missing; context works on all memories of an agent"),
        ({"operation": "context", "agent": "scribe", "resource": "desk"}, "resource: is nothing that context takes"),
        ({"operation": "context", "agent": "scribe", "key": "x"}, "key: is nothing that context takes"),
        ({"operation": "read", "resource": "desk", "operation_id": "a"}, "operation_id: is nothing that read takes"),
        ({"operation": "read", "resource": "desk", "payload": {"limt": 1}}, "limt: is not a field.*'limit'"),
        ({"operation": "read", "resource": "desk", "payload": {"agent": "x"}}, "payload.agent: stands beside"),
        ({"operation": "read", "resource": "desk", "key": "x", "payload": {"limit": "5"}}, "limit: "),
        ({"operation": "clear", "resource": "desk", "key": "x"}, "confirm"),
        ({"operation": "read", "resource": "desk", "kye": "x"}, "kye: is not a field.*'key'"),
        (
            {"operation": "read", "memory": {"resource": "desk", "key": "x"}},
            "^memory: is not a field of this request; write its resource, key, input and agent beside operation$",
        ),
        ({"operation": 7}, "operation: "),
        ("read", "request: must be an object"),
    ],
)
async def test_what_is_wrong_is_refused_by_its_name(client: MemoryClient, request_: Any, problem: str) -> None:
    with serving(client), pytest.raises(MemoryInvalid, match=problem):
        await run_operation(request_)


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_field_of_any_type_is_taken_or_refused_by_its_name(client: MemoryClient, operation: str) -> None:
    place = {"agent": "scribe", "input": {"user": unique("user")}}
    whole = place if operation in OF_AGENTS else {"memory": {"resource": "desk", **place}}
    needed = {"operation_id": "turn", "backup_id": "x", "ids": ["x"], **HELLO, "confirm": True}
    taken = {field.name for field in fields(OPERATIONS[operation].request)}
    given = {**{name: value for name, value in needed.items() if name in taken}, **whole}
    for field in sorted(taken):
        for value in ([[5]], {"a": {"b": 1}}, 5, 2.5, "x", True, None, [None]):
            with serving(client), suppress(MemoryFault):
                await EVERY_WORKER[f"memory.{operation}"]({**given, field: value})
        with serving(client), pytest.raises(MemoryInvalid, match=rf"\b{field}\b"):
            await EVERY_WORKER[f"memory.{operation}"]({**given, field: [[5]]})


async def test_modes_and_operation_ids_hold(client: MemoryClient) -> None:
    place = {"resource": "vault", "key": unique("key")}
    refused: list[type[MemoryFault]] = [MemoryAccessDenied, MemoryAccessDenied, MemoryOperationConflict]
    appended = {**place, "agent": "append-only", "operation_id": "once"}
    assert (await execute(client, "append", HELLO, **appended))["already_applied"] is False
    assert (await execute(client, "append", HELLO, **appended))["already_applied"] is True
    calls: tuple[tuple[str, Mapping[str, Any], dict[str, Any]], ...] = (
        ("append", HELLO, place),
        ("clear", {"confirm": True}, {**place, "agent": "append-only"}),
        ("append", {"messages": [{"role": "user", "content": "Other."}]}, appended),
    )
    for (operation, payload, more), error in zip(calls, refused, strict=True):
        with pytest.raises(error):
            await execute(client, operation, payload, **more)


async def test_a_workflow_executes_by_name(desk: Desk) -> None:
    request = {"operation": "append", "resource": "desk", "key": unique("key"), "payload": HELLO}
    assert len((await desk.run(CallByName.run, wire.EXECUTE, request))["ids"]) == 1
    flush = {"operation": "flush", "resource": "desk", "key": request["key"], "payload": {"force": True}}
    assert (await desk.run(CallByName.run, wire.EXECUTE, flush))["outcome"] == "committed"


async def test_the_command_runs_a_request_from_a_file_or_stdin(tmp_path: Path, redis_url: str) -> None:
    (tmp_path / "memories").mkdir()
    documents = "\n---\n".join(json.dumps(document) for document in declarations())
    (tmp_path / "memories" / "declared.yaml").write_text(documents)
    given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": PROJECT}
    request = {"operation": "append", "resource": "desk", "key": unique("key"), "payload": HELLO}
    (tmp_path / "request.json").write_text(json.dumps(request))
    appended = await run_program("execute", "request.json", cwd=tmp_path, **given)
    read = json.dumps({"operation": "read", "resource": "desk", "key": request["key"]})
    view = await run_program("execute", "-", cwd=tmp_path, stdin=read, **given)
    assert [message["id"] for message in view.json()["messages"]] == appended.json()["ids"]
    flush = json.dumps({**json.loads(read), "operation": "flush", "payload": {"force": True}})
    assert (await run_program("execute", "-", cwd=tmp_path, stdin=flush, **given)).json()["outcome"] == "committed"
    wrong = await run_program("execute", "-", cwd=tmp_path, stdin='{"operation": "raed"}', **given)
    assert (wrong.code, "did you mean 'read'?" in wrong.err) == (1, True)
