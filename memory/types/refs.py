"""References: what a workflow passes to an activity, or to another workflow, instead of messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from durable_memory.memory.types.clean import InvalidValue


@dataclass(frozen=True, slots=True)
class MemoryRef:
    """A small, serialisable reference to one memory.

    Either `key` is given, or the worker renders it from `input` with the template of the agent or the resource.
    `agent` names the declared agent on whose behalf the memory is used. workflow_id, workflow_type, run_id: of the
    workflow whose handle gave the reference out. Without key, the template is rendered with these, whoever opens it; in
    a reference that has neither of the first two, with those of the workflow that opens it. And what another workflow
    writes by the reference belongs to the one that gave it out as well, until that ends.
    """

    resource: str
    key: str | None = None
    input: dict[str, Any] | None = None
    agent: str | None = None
    workflow_id: str | None = None
    workflow_type: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class AgentRef:
    """A small, serialisable reference to a declared agent and the input of its key templates.

    workflow_id, workflow_type, run_id: as in a MemoryRef.
    """

    id: str
    input: dict[str, Any] | None = None
    workflow_id: str | None = None
    workflow_type: str | None = None
    run_id: str | None = None


_Reference = TypeVar("_Reference", bound=MemoryRef | AgentRef)


def names_workflow(ref: MemoryRef | AgentRef) -> bool:
    """Tells whether a reference brings what templates know of a workflow."""
    return ref.workflow_id is not None or ref.workflow_type is not None


def given_by(ref: _Reference, workflow_id: str | None, workflow_type: str | None, run_id: str | None) -> _Reference:
    """Returns what this workflow, or an activity of it, gives out: it means the same memories to whoever opens it.

    One that names a workflow keeps it. None: given outside workflows.
    """
    if names_workflow(ref):
        return ref
    return replace(ref, workflow_id=workflow_id, workflow_type=workflow_type, run_id=run_id)


def refuse_beside_reference(**given: object) -> None:
    """Raises InvalidValue for what is given beside a reference, which holds all of it."""
    for name, value in given.items():
        if value is not None:
            raise InvalidValue(name, "stands beside a reference, which has its own; give one of the two")


def refuse_no_reference(name: str, value: object, kind: type[MemoryRef | AgentRef]) -> None:
    """Raises InvalidValue for what is neither an id nor a reference of this kind, and says what the slip was.

    name: of the argument.
    """
    if isinstance(value, (str, kind)):
        return
    if isinstance(value, Mapping):
        problem = (
            f"is a {type(value).__name__}, not a {kind.__name__}; annotate the parameter by which it came, or "
            "Temporal leaves a reference as the JSON that it was sent as"
        )
    elif isinstance(value, MemoryRef):
        problem = "is a MemoryRef, which opens one memory: AgentMemory(ref), client.memory(ref)"
    elif isinstance(value, AgentRef):
        problem = "is an AgentRef, which opens an agent: Agent(ref), client.agent(ref)"
    else:
        problem = f"must be the id of a declaration or a {kind.__name__}, not {type(value).__name__}"
    raise InvalidValue(name, problem)
