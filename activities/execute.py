"""memory.execute: any public operation by its name, for callers whose steps are data, as in YAML.

It builds the request of the operation's own activity and hands it over, so that the checks are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from temporalio import activity

from durable_memory.activities import agents, conversation, requests, wire
from durable_memory.activities.answers import JsonObject
from durable_memory.activities.defining import Activity
from durable_memory.activities.operations import OF_AN_AGENT, ON_A_MEMORY, Operation
from durable_memory.activities.parsing import parse
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.types import did_you_mean

_PREFIX: Final = "memory."
_WORKFLOW: Final = ("workflow_id", "workflow_type", "run_id")
_BESIDE: Final = ("memory", "agent", "input", *_WORKFLOW, "operation_id", "contract")
"""What stands beside the payload, and not in it."""

OPERATIONS: Final[Mapping[str, Operation[Any, Any]]] = {
    operation.name.removeprefix(_PREFIX): operation for operation in (*ON_A_MEMORY, *OF_AN_AGENT)
}
"""What may be executed: each public operation, by its name without `memory.`."""

_EXECUTABLE: Final[Mapping[str, Activity]] = {**conversation.ACTIVITIES, **agents.ACTIVITIES}


@activity.defn(name=wire.EXECUTE)
async def execute(request: Any = None) -> JsonObject:
    """Runs an operation and returns its answer; see requests.ExecuteRequest."""
    return await run_operation(request)


async def run_operation(request: object) -> JsonObject:
    """Runs the operation that a request of memory.execute names, with the current client.

    Raises MemoryInvalid for an unknown operation and what does not belong to this one, and what the operation raises.
    """
    if isinstance(request, dict) and "memory" in request:  # as the operations' own requests have it
        raise MemoryInvalid(
            "memory: is not a field of this request; write its resource, key, input and agent beside operation"
        )
    asked = parse(requests.ExecuteRequest, request)
    operation = OPERATIONS.get(asked.operation)
    if operation is None:
        near = did_you_mean(asked.operation.removeprefix(_PREFIX), tuple(OPERATIONS))
        raise MemoryInvalid(f"operation: is not one of {', '.join(OPERATIONS)}{near}")
    run = _EXECUTABLE[operation.name]
    return await run(_request(asked, {item.name for item in fields(operation.request)}))


def _request(asked: requests.ExecuteRequest, taken: set[str]) -> JsonObject:
    """Returns the request of the operation's own activity; `taken` are its fields."""
    payload = dict(asked.payload or {})
    for field in _BESIDE:
        if field in payload:
            raise MemoryInvalid(f"payload.{field}: stands beside the payload, not in it")
    given = _given(asked, "operation_id")
    if "memory" in taken:
        if asked.resource is None:
            raise MemoryInvalid(f"resource: is missing; {asked.operation} works on one memory")
        given["memory"] = _given(asked, "resource", "key", "input", "agent", *_WORKFLOW)
    else:
        if asked.agent is None:
            raise MemoryInvalid(f"agent: is missing; {asked.operation} works on all memories of an agent")
        given.update(_given(asked, "resource", "key", "input", "agent", *_WORKFLOW))
    for field in given:
        if field not in taken:
            raise MemoryInvalid(f"{field}: is nothing that {asked.operation} takes; remove it")
    return {**payload, **given, "contract": asked.contract}


def _given(asked: requests.ExecuteRequest, *names: str) -> JsonObject:
    values = {name: getattr(asked, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


ACTIVITIES: Final[Mapping[str, Activity]] = {wire.EXECUTE: execute}
"""Not made by `serve`: this activity has words of its own for a slip, before its request is read."""
