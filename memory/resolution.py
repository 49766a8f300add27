"""From a reference to one memory: which resource, which key, and what the caller may do with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from durable_memory.memory.access import Access, narrowest
from durable_memory.memory.arguments import check_workflow, template_input
from durable_memory.memory.declarations.agent import AgentResource, Use
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import MemoryAccessDenied, MemoryKeyInvalid
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.keys.rule import checked_key
from durable_memory.memory.keys.templates import KeyTemplate
from durable_memory.memory.types import AgentRef, MemoryRef, names_workflow


class Resolved(NamedTuple):
    """What a reference means: the declaration, the identity, and what the caller may do."""

    resource: MemoryResource
    memory: MemoryId
    access: Access


@dataclass(frozen=True, slots=True)
class CalledFrom:
    """Where a call comes from, as key templates see it.

    project: of this process, `project.id` in templates. workflow_id, workflow_type: of the workflow that calls, None
    outside workflows: `workflow.id` and `workflow.type` in templates, unless the reference names another.
    """

    project: str
    workflow_id: str | None = None
    workflow_type: str | None = None


def resolve(ref: MemoryRef, registry: Registry, called_from: CalledFrom) -> Resolved:
    """Returns the memory that `ref` means, and what its caller may do with it.

    The key is the one given; else the agent's key for this memory, else the resource's default_key_template, rendered
    with the input. A template that fails is an error, never a fallback: another key would be someone else's memory.
    Where an agent declares one memory under several keys, a call has to give its key; it is then held to the modes of
    those declarations whose template could have made that key, or to all of them if none could.

    ref: what the caller sent. Raises MemoryUnknownResource; MemoryAccessDenied if the agent has not declared this
    memory, or the memory is for agents only; MemoryKeyInvalid if there is no key, no template for one, or it breaks the
    key rule.
    """
    check_workflow(ref)
    resource = registry.memory(ref.resource)
    uses = _uses(resource, None if ref.agent is None else registry.agent(ref.agent))
    if ref.key is not None:
        if ref.input is not None:
            raise MemoryKeyInvalid(f"memory {resource.id!r}: give a key or an input to make one, not both")
        memory = MemoryId(called_from.project, resource.id, checked_key(ref.key, resource.id))
        return Resolved(resource, memory, _access(ref.agent, _meant(uses, resource, memory.key)))
    if len(uses) > 1:
        raise MemoryKeyInvalid(
            f"memory {resource.id!r}: agent {ref.agent!r} declares it under {len(uses)} keys; give the key"
        )
    values = _values(ref, ref.agent, called_from)
    template = (uses[0].key if uses else None) or resource.key_template
    if template is None:
        raise MemoryKeyInvalid(
            f"memory {resource.id!r}: no key is given, and it has no default_key_template; give a key"
            f"{'' if ref.agent else _or_an_agent(resource, registry)}"
        )
    memory = MemoryId(called_from.project, resource.id, template.render(values, resource.id))
    return Resolved(resource, memory, _access(ref.agent, uses))


def resolve_agent(ref: AgentRef, registry: Registry, called_from: CalledFrom) -> list[tuple[Use, Resolved]]:
    """Returns every memory of an agent with its key, as its declaration and the input make it; see `resolve`.

    Raises MemoryUnknownResource; MemoryKeyInvalid if a memory has no template for its key, the template fails, or two
    of them make one key.
    """
    check_workflow(ref)
    values = _values(ref, ref.id, called_from)
    found: dict[MemoryId, tuple[Use, Resolved]] = {}
    for use in registry.agent(ref.id).uses:
        resource = registry.memory(use.resource)
        template = use.key or resource.key_template
        if template is None:
            raise MemoryKeyInvalid(
                f"agent {ref.id!r}: nothing makes the key of its memory {resource.id!r}, which only a call on that "
                "memory can give; declare `memories[].key` (or `memory_key`) for the agent, or the memory's "
                "default_key_template"
            )
        memory = MemoryId(called_from.project, resource.id, template.render(values, resource.id))
        if memory in found:
            raise MemoryKeyInvalid(
                f"agent {ref.id!r}: two of its declarations of memory {resource.id!r} make the same key of this input"
            )
        found[memory] = use, Resolved(resource, memory, Access(ref.id, use.mode))
    return list(found.values())


def _or_an_agent(resource: MemoryResource, registry: Registry) -> str:
    """Names the agents in whose name a call needs no key of this memory."""
    makers = [
        agent.id for agent in registry.agents() if any(use.resource == resource.id and use.key for use in agent.uses)
    ]
    return f", or an agent that makes one: {', '.join(sorted(makers))}" if makers else ""


def _values(ref: MemoryRef | AgentRef, agent: str | None, called_from: CalledFrom) -> dict[str, Mapping[str, object]]:
    # Both from the reference, also if it lacks one: the id of one workflow and the type of another make no key.
    workflow = ref if names_workflow(ref) else called_from
    return {
        "project": {"id": called_from.project},
        "workflow": _given(id=workflow.workflow_id, type=workflow.workflow_type),
        "agent": _given(id=agent),
        "input": template_input(ref.input) or {},
    }


def _uses(resource: MemoryResource, agent: AgentResource | None) -> tuple[Use, ...]:
    """How the agent declares this memory; nothing for a program that calls for itself."""
    if agent is None:
        if resource.agents_only:
            raise MemoryAccessDenied(
                f"memory {resource.id!r} is for agents only (agents_only: true); name the declared agent that calls"
            )
        return ()
    uses = tuple(use for use in agent.uses if use.resource == resource.id)
    if not uses:
        may_use = ", ".join(dict.fromkeys(repr(use.resource) for use in agent.uses)) or "none"
        raise MemoryAccessDenied(f"agent {agent.id!r} has not declared memory {resource.id!r}; it may use {may_use}")
    return uses


def _meant(uses: tuple[Use, ...], resource: MemoryResource, key: str) -> tuple[Use, ...]:
    """Which of an agent's declarations of this memory a literal key belongs to."""
    return tuple(use for use in uses if _could_be(use.key or resource.key_template, key)) or uses


def _could_be(template: KeyTemplate | None, key: str) -> bool:
    return template is not None and template.could_render(key)


def _access(agent: str | None, uses: tuple[Use, ...]) -> Access:
    return Access(agent, narrowest({use.mode for use in uses})) if uses else Access()


def _given(**values: str | None) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}
