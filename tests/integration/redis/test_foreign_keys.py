"""Something else stands where a project keeps what is of all its memories: it is named, and what to do."""

from __future__ import annotations

import re
import uuid
from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio import Redis

from durable_memory.memory.errors import MemoryDamaged
from durable_memory.memory.identity import MemoryId, Owner, WorkflowId
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis.arguments import mark_of

MARK, _ = mark_of("named")
CALLS: dict[str, Callable[[Backend, str], Awaitable[object]]] = {
    "index:plan": lambda backend, project: backend.index.register(MemoryId(project, "plan", "user:42"), None),
    "names:plan": lambda backend, project: backend.index.memories(project, "plan", None, 10),
    "resources": lambda backend, project: backend.index.resources(project),
    "due": lambda backend, project: backend.index.registered(project, None, 10),
    "bindings": lambda backend, project: backend.index.bindings(project, WorkflowId("default", "workflow-42")),
    "spent:plan": lambda backend, project: backend.spending.spent(project, "plan"),
    f"fleet:{MARK.hex()}": lambda backend, project: backend.fleet.differs(project, "named", "declarations"),
    "keys": lambda backend, project: backend.key_checks.noted(project),
    f"start:{MARK.hex()}": lambda backend, project: backend.starts.first(project, "named", 1, 60_000),
}
"""What needs each key of a project."""


@pytest.mark.parametrize("name", CALLS)
async def test_a_foreign_key_of_a_project_is_named_and_once_it_is_removed_calls_go_on(
    backend: Backend, raw: Redis, prefix: str, name: str
) -> None:
    project = uuid.uuid4().hex
    key = f"{prefix}{{{project}}}:{name}"
    await raw.rpush(key, "foreign")
    with pytest.raises(MemoryDamaged, match=rf"{re.escape(key)}.*: remove a key of the wrong type") as told:
        await CALLS[name](backend, project)
    assert re.search(r"user:42|workflow-42", told.value.message) is None
    await raw.delete(key)
    await CALLS[name](backend, project)


async def test_a_resource_that_no_script_noted_is_damage_of_the_key_that_holds_it(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    project = uuid.uuid4().hex
    key = f"{prefix}{{{project}}}:resources"
    await backend.index.register(MemoryId(project, "plan", "mine"), None)
    await raw.sadd(key, b"\xff")
    with pytest.raises(MemoryDamaged, match=rf"{re.escape(key)}.* remove only the entry that is wrong"):
        await backend.index.resources(project)
    await raw.srem(key, b"\xff")
    assert await backend.index.resources(project) == ("plan",)


async def test_a_binding_of_another_form_is_damage_of_the_key_that_holds_it(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    project = uuid.uuid4().hex
    key = f"{prefix}{{{project}}}:bindings"
    await raw.zadd(key, {b"o:default/workflow-42 \xff": 0})
    await backend.index.register(MemoryId(project, "plan", "mine"), Owner("default", "workflow-42", "run"))
    with pytest.raises(MemoryDamaged, match=rf"{re.escape(key)}.* remove only the entry that is wrong") as told:
        await backend.index.bindings(project, WorkflowId("default", "workflow-42"))
    assert "workflow-42" not in told.value.message
    await raw.zrem(key, b"o:default/workflow-42 \xff")
    assert len(await backend.index.bindings(project, WorkflowId("default", "workflow-42"))) == 1
