"""A mode holds on every route to a memory: handle, workflow, activity by name, command line."""

from __future__ import annotations

import contextlib
import inspect
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from durable_memory import Memory, MemoryClient
from durable_memory.memory.access import APPENDING, READING, Access
from durable_memory.memory.errors import MemoryAccessDenied, MemoryInvalid
from tests.integration.agents.conftest import PROJECT, Desk, unique
from tests.integration.agents.declared import declarations
from tests.integration.agents.flows import UseAs
from tests.integration.cli.programs import Ended, run_program

Call = Callable[[Memory], Awaitable[object]]

_NOBODY = "0" * 16 + "-1-0000"


async def _restore_what_is_not(memory: Memory) -> None:
    with contextlib.suppress(MemoryInvalid):
        await memory.restore("0" * 16)


CALLS: dict[str, Call] = {
    "append": lambda memory: memory.append("more"),
    "record_turn": lambda memory: memory.record_turn("more"),
    "recorded_turn": lambda memory: memory.recorded_turn(operation_id="turn"),
    "read": lambda memory: memory.read(),
    "touch": lambda memory: memory.touch([_NOBODY]),
    "write": lambda memory: memory.write("new"),
    "pin": lambda memory: memory.pin([_NOBODY]),
    "unpin": lambda memory: memory.unpin([_NOBODY]),
    "delete": lambda memory: memory.delete([_NOBODY]),
    "clear": lambda memory: memory.clear(confirm=True),
    "restore": _restore_what_is_not,
    "flush": lambda memory: memory.flush(force=True),
    "stats": lambda memory: memory.stats(),
    "health": lambda memory: memory.health(),
}
_WITHOUT_EFFECT = ("delete", "pin", "unpin", "restore")  # on a message that is not there
MODES: dict[str, set[str]] = {
    "read-write": set(CALLS),
    "append-only": {*READING, *APPENDING},
    "read-only": set(READING),
}


def test_every_operation_of_a_memory_is_tried_here() -> None:
    operations = {name for name, method in vars(Memory).items() if inspect.iscoroutinefunction(method)}
    assert set(CALLS) == {name for name in operations if not name.startswith("_")}


@pytest.mark.parametrize("operation", CALLS)
@pytest.mark.parametrize("mode", MODES)
async def test_a_handle_does_what_its_mode_allows(client: MemoryClient, mode: str, operation: str) -> None:
    key = unique("key")
    await client.memory("desk", key).append("stored")
    before = await client.memory("desk", key).read()
    memory = client.memory("desk", key, agent=mode)
    refusal = ""
    try:
        await CALLS[operation](memory)
    except MemoryAccessDenied as error:
        refusal = error.message
    text = f"desk: agent {mode!r} has declared it {mode}, which does not allow {operation}"
    assert refusal == ("" if operation in MODES[mode] else text)
    after = await client.memory("desk", key).read()
    assert (after == before) is (bool(refusal) or operation in {*READING, *_WITHOUT_EFFECT})


async def test_the_store_refuses_what_a_handle_lets_through(client: MemoryClient, monkeypatch: Any) -> None:
    key = unique("key")
    await client.memory("desk", key).append("stored")
    memory = client.memory("desk", key, agent="read-only")
    monkeypatch.setattr(Access, "check", lambda *_: None)
    for operation in ("append", "record_turn", "write", "delete", "clear", "flush"):
        with pytest.raises(MemoryAccessDenied):
            await CALLS[operation](memory)
    assert [message.text for message in (await memory.read()).messages] == ["stored"]


async def test_a_memory_for_agents_only_is_closed_to_programs(client: MemoryClient) -> None:
    key = unique("key")
    with pytest.raises(MemoryAccessDenied, match="agents only"):
        client.memory("vault", key)
    await client.memory("vault", key, agent="append-only").append("seen")
    assert len((await client.memory("vault", key, agent="read-only").read()).messages) == 1


async def test_an_operator_moves_a_memory_for_agents_only(client: MemoryClient) -> None:
    key, other = unique("key"), unique("key")
    await client.memory("vault", key, agent="append-only").append("seen")
    lines = [line async for line in client.export_messages("vault", key=key)]
    await client.import_messages(lines, key=other)
    view = await client.memory("vault", other, agent="read-only").read()
    assert [message.text for message in view.messages] == ["seen"]


async def test_a_reference_of_one_agent_opens_nothing_for_another(client: MemoryClient) -> None:
    reference = client.memory("desk", unique("key"), agent="read-only").ref
    with pytest.raises(MemoryAccessDenied, match="read-only"):
        await client.memory(reference).append("more")
    with pytest.raises(MemoryAccessDenied, match="'stranger' has not declared memory 'desk'"):
        client.memory(type(reference)(reference.resource, key=reference.key, agent="stranger"))


@pytest.mark.parametrize("given", [{"key": "another"}, {"input": {"user": "ada"}}, {"agent": "read-write"}])
async def test_a_reference_stands_alone(client: MemoryClient, given: dict[str, Any]) -> None:
    reference = client.memory("desk", unique("key"), agent="read-only").ref
    with pytest.raises(MemoryInvalid, match=rf"^{next(iter(given))}: stands beside a reference"):
        client.memory(reference, **given)


@pytest.mark.parametrize(
    ("agent", "outcomes"),
    [
        ("append-only", ["done", "done", "done", *["MemoryAccessDenied"] * 3]),
        ("read-only", ["done", "done", *["MemoryAccessDenied"] * 4]),
        ("stranger", ["MemoryAccessDenied"] * 6),
        (None, ["MemoryAccessDenied"] * 6),
    ],
)
async def test_a_workflow_is_held_to_the_mode_of_its_agent(desk: Desk, agent: str | None, outcomes: list[str]) -> None:
    operations = ["read", "stats", "append", "write", "clear", "flush"]
    assert await desk.run(UseAs.run, "vault", unique("key"), agent, operations) == outcomes


async def test_the_command_line_is_held_to_the_mode_of_its_agent(tmp_path: Path, redis_url: str) -> None:
    (tmp_path / "memories").mkdir()
    documents = "\n---\n".join(json.dumps(document) for document in declarations())
    (tmp_path / "memories" / "declared.yaml").write_text(documents)
    key = unique("key")

    async def run(*arguments: str) -> Ended:
        given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": PROJECT}
        return await run_program(*arguments, cwd=tmp_path, **given)

    refused = await run("append", "vault", key, "hello")
    assert (refused.code, "agents only" in refused.err) == (1, True)
    assert (await run("append", "vault", key, "hello", "--agent", "append-only")).code == 0
    for command in (["append", "vault", key, "x"], ["flush", "vault", key], ["clear", "vault", key, "--yes"]):
        ended = await run(*command, "--agent", "read-only")
        assert (ended.code, "read-only" in ended.err, key in ended.err) == (1, True, False)
    view = (await run("read", "vault", key, "--agent", "read-only", "-o", "json")).json()
    assert [(message["content"], message["agent"]) for message in view["messages"]] == [("hello", "append-only")]
    assert (await run("stats", "vault", key, "--agent", "read-only")).code == 0
    assert (await run("health", "vault", key, "--agent", "append-only")).code == 0
