"""Whichever way a call takes, handle, activity, execute, flusher, the end of a workflow or a sweep: one record."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from durable_memory import Message, ToolCall
from durable_memory.activities import wire
from durable_memory.activities.runs import TemporalRuns
from durable_memory.memory.hashing import memory_hash
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.janitor.sweep import Janitor
from durable_memory.memory.types import MemoryRef
from tests.integration.agents.flows import CallByName
from tests.integration.audit.conftest import Desk, unique
from tests.integration.audit.flows import Remove, RemoveAgain
from tests.integration.audit.recorded import Recorded
from tests.integration.janitor.sweeping import BentRuns
from tests.integration.temporal.observing import eventually

MARKER = "marley4711"


async def test_the_handle_of_a_workflow_leaves_one_record_for_each_call(desk: Desk, recorded: Recorded) -> None:
    operations = ["read", "write", "delete", "clear", "restore", "flush"]
    await desk.run(Remove.run, "ring", "user:1", operations)
    found = recorded.of(desk.project)
    assert [one["operation"] for one in found] == operations[1:]
    assert {one["outcome"] for one in found} == {"applied"}
    assert {one["caller"] for one in found} == {"activity"}
    assert {one["activity_type"] for one in found} == {f"memory.{name}" for name in operations[1:]}
    assert {one["namespace"] for one in found} == {"default"}
    assert len({one["workflow_run_id"] for one in found}) == 1
    assert len({one["activity_id"] for one in found}) == 5


async def test_an_attempt_that_is_repeated_is_recorded_as_applied_before(desk: Desk, recorded: Recorded) -> None:
    await desk.memories.memory("desk", "user:1").append("Old.")
    await desk.run(RemoveAgain.run, MemoryRef("desk", key="user:1"), None)
    calls = ["write", "delete", "clear", "restore"]
    assert recorded.brief(desk.project) == [
        *(f"{name} applied" for name in calls),
        *(f"{name} already_applied" for name in calls),
    ]
    found = recorded.of(desk.project)
    assert [one["attempt"] for one in found] == [1] * 4 + [2] * 4
    assert [one["operation_hash"] for one in found[:4]] == [one["operation_hash"] for one in found[4:]]
    assert [one["removed"] for one in found[:4]] == [1, 1, 1, 0]


async def test_an_execute_leaves_the_record_of_its_operation(desk: Desk, recorded: Recorded) -> None:
    place = {"resource": "desk", "key": "user:1"}
    await desk.memories.memory("desk", "user:1").append("Old.")
    await desk.run(CallByName.run, wire.EXECUTE, {"operation": "clear", **place, "payload": {"confirm": True}})
    assert recorded.brief(desk.project) == ["clear applied"]
    assert recorded.of(desk.project)[0]["activity_type"] == "memory.execute"


async def test_a_flush_that_drops_is_recorded_where_it_drops_if_somebody_asked_for_it(
    desk: Desk, recorded: Recorded
) -> None:
    await desk.run(Remove.run, "ring", "user:1", ["flush in the background"])

    async def dropped() -> bool:
        return bool(recorded.of(desk.project))

    await eventually(dropped)
    # What the declaration itself drops is nobody's wish.
    place = {"resource": "ring", "key": "user:2"}
    messages = [{"role": "user", "content": f"{number}"} for number in range(4)]
    await desk.run(CallByName.run, wire.APPEND, {"memory": place, "messages": messages})

    async def dropped_by_itself() -> bool:
        return (await desk.memories.memory("ring", "user:2").stats()).last_flush_outcome == "dropped"

    await eventually(dropped_by_itself)
    [record] = recorded.of(desk.project)
    assert (record["operation"], record["outcome"], record["removed"]) == ("flush", "applied", 1)
    assert record["activity_type"] == "memory.flush.begin"


async def test_what_the_end_of_a_workflow_clears_is_recorded(desk: Desk, recorded: Recorded) -> None:
    await desk.run(Remove.run, "scratch", "user:1", [])
    [record] = recorded.of(desk.project)
    assert (record["operation"], record["outcome"], record["removed"]) == ("cleanup", "applied", 1)
    assert (record["activity_type"], record["caller"]) == ("memory.cleanup", "activity")
    assert record["memory_hash"] == memory_hash(MemoryId(desk.project, "scratch", "user:1"))
    assert record["version_before"]


async def test_what_a_sweep_clears_is_recorded_once(desk: Desk, recorded: Recorded) -> None:
    memory = desk.memories.memory("scratch", "user:1")
    await memory.append("Left behind.")
    gone = Owner(desk.temporal.namespace, unique("never-run"), "a-run")
    await desk.memories.parts.backends["redis"].index.register(memory.id, gone)

    async def wake(_: MemoryId) -> None:
        raise AssertionError("nothing is due")

    await asyncio.sleep(0.01)
    janitor = Janitor(desk.memories, BentRuns(TemporalRuns(desk.temporal), retention=0), wake)
    for _ in range(2):
        await janitor.sweep()
    assert recorded.brief(desk.project) == ["cleanup applied"]


PLANTED: list[dict[str, Any]] = [
    {
        "operation": "write",
        "payload": {"messages": [{"role": "user", "content": MARKER, "metadata": {MARKER: MARKER}}]},
    },
    {"operation": "write", "payload": {"messages": [MARKER]}},
    {"operation": "write", "payload": {"messages": [{"role": "user", "content": "x"}], "if_version": MARKER}},
    {"operation": "delete", "payload": {"ids": [MARKER]}},
    {"operation": "restore", "payload": {"backup_id": MARKER}},
    {"operation": "restore", "payload": {"backup_id": "0" * 16, "if_version": MARKER}},
    {"operation": "clear", "payload": {"confirm": False}},
    {"operation": "clear", "payload": {"confirm": True}},
    {"operation": "clear", "payload": {"confirm": True}, "agent": "reader"},
    {"operation": "clear", "payload": {"confirm": True}, "resource": "vault"},
    {"operation": "flush", "payload": {"force": True}},
]
"""Requests that say the marker wherever a caller may say something."""


@pytest.mark.parametrize("resource", ["ring", "desk"])
async def test_no_record_holds_what_was_said_a_key_or_an_id_of_the_users(
    desk: Desk, recorded: Recorded, resource: str
) -> None:
    ids = {"id": f"run-of-{MARKER}-{resource}"}
    call = Message.assistant(MARKER, name=MARKER, tool_calls=[ToolCall(MARKER, MARKER, json.dumps({MARKER: MARKER}))])
    await desk.memories.memory(resource, f"user:{MARKER}").append([call, MARKER])
    for number, request in enumerate(PLANTED):
        given = {"resource": resource, "key": f"user:{MARKER}", "operation_id": f"{MARKER}-{number}", **request}
        done = desk.run(CallByName.run, wire.EXECUTE, given, **ids)
        await asyncio.gather(done, return_exceptions=True)
    await desk.run(RemoveAgain.run, MemoryRef(resource, key=f"user:{MARKER}"), f"remove-{MARKER}", **ids)
    await desk.memories.purge(resource, prefix=f"user:{MARKER}", dry_run=False, confirm=True)
    asked = {record["operation"] for record in recorded.of(desk.project)}
    assert asked >= {"write", "delete", "restore", "clear", "open", "purge", "purge_memory"}
    assert len(recorded.of(desk.project)) >= len(PLANTED)
    assert [line for line in recorded.lines if MARKER in line] == []
