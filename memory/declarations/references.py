"""What agents refer to: every memory must be declared, and none twice under one key or one label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from durable_memory.memory.declaration_faults import Finding, Location
from durable_memory.memory.declarations.agent import AgentResource
from durable_memory.memory.declarations.declaration import is_id
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.keys.templates import Variable
from durable_memory.memory.types import did_you_mean


@dataclass(frozen=True, slots=True)
class Reference:
    """The id of a memory in a document, and where it stands."""

    memory: object
    location: Location


def references(data: Mapping[str, Any]) -> Iterator[Reference]:
    """Yields what an agent's document refers to, as it is written, also where the rest of the document is faulty."""
    if isinstance(data.get("memory"), str):
        yield Reference(data["memory"], ("memory",))
    listed = data.get("memories")
    for index, item in enumerate(listed if isinstance(listed, (list, tuple)) else ()):
        if isinstance(item, Mapping):
            yield Reference(item.get("id"), ("memories", str(index), "id"))
        else:
            yield Reference(item, ("memories", str(index)))


def unknown_memories(data: Mapping[str, Any], known: Sequence[str]) -> Iterator[Finding]:
    """Yields a problem for each memory that is declared nowhere."""
    for reference in references(data):
        # What is no id has its own fault, and may not be repeated: it may have been filled in from a secret.
        if is_id(reference.memory) and reference.memory not in known:
            problem = f"there is no memory resource {reference.memory!r}{did_you_mean(reference.memory, known)}"
            yield reference.location, problem


def repeated_memories(agent: AgentResource, memories: Mapping[str, MemoryResource]) -> Iterator[Finding]:
    """Yields a problem for each memory that an agent names again under the same key."""
    seen: dict[tuple[str, tuple[str | Variable, ...]], int] = {}
    for index, use in enumerate(agent.uses):
        declared = memories.get(use.resource)
        template = use.key or (None if declared is None else declared.key_template)
        first = seen.setdefault((use.resource, () if template is None else template.parts_for(agent.id)), index)
        if first != index:
            problem = f"names memory {use.resource!r} under the key of memories.{first}; give it a key of its own"
            yield ("memories", str(index)), problem


def repeated_labels(agent: AgentResource) -> Iterator[Finding]:
    """Yields a problem for each memory that stands in the agent's context under the label of another one."""
    seen: dict[str, int] = {}
    for index, use in enumerate(agent.uses):
        if not use.takes_part:
            continue
        label = use.label or use.resource
        first = seen.setdefault(label, index)
        if first != index:
            problem = (
                f"stands in a context under {label!r}, as memories.{first} does, and a model cannot tell them apart; "
                "give one an inject.label"
            )
            yield ("memories", str(index)), problem
