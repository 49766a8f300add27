"""From a reference to one memory: which resource, which key, and whether the agent may use it."""

from __future__ import annotations

from collections.abc import Mapping

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import MemoryAccessDenied, MemoryKeyInvalid
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.keys.rule import checked_key
from durable_memory.memory.types import MemoryRef


def resolve(
    ref: MemoryRef,
    registry: Registry,
    *,
    project: str,
    workflow_id: str | None = None,
    workflow_type: str | None = None,
) -> tuple[MemoryResource, MemoryId]:
    """Returns the resource and the identity of the memory that `ref` means.

    The key is the one given; else the agent's memory_key, else the resource's default_key_template, rendered with the
    input. A template that fails is an error, never a fallback: another key would be someone else's memory.

    Args:
        ref: what the caller sent.
        registry: what is declared.
        project: the project of this process, also `project.id` in templates.
        workflow_id: `workflow.id` in templates; None outside workflows.
        workflow_type: `workflow.type` in templates; None outside workflows.

    Raises:
        MemoryUnknownResource: the resource or the agent is not declared.
        MemoryAccessDenied: the agent declares another memory.
        MemoryKeyInvalid: there is no key, no template for one, or it breaks the key rule.
    """
    resource = registry.memory(ref.resource)
    agent = None if ref.agent is None else registry.agent(ref.agent)
    if agent is not None and agent.memory != resource.id:
        raise MemoryAccessDenied(
            f"agent {agent.id!r} has not declared memory {resource.id!r}; it may use {agent.memory!r}"
        )
    if ref.key is not None:
        if ref.input is not None:
            raise MemoryKeyInvalid(f"memory {resource.id!r}: give a key or an input to make one, not both")
        return resource, MemoryId(project, resource.id, checked_key(ref.key, resource.id))
    template = (agent.key_template if agent else None) or resource.key_template
    if template is None:
        raise MemoryKeyInvalid(
            f"memory {resource.id!r}: no key is given, and it has no default_key_template; give a key"
        )
    values: dict[str, Mapping[str, object]] = {
        "project": {"id": project},
        "workflow": _given(id=workflow_id, type=workflow_type),
        "agent": _given(id=ref.agent),
        "input": ref.input or {},
    }
    return resource, MemoryId(project, resource.id, template.render(values, resource.id))


def _given(**values: str | None) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}
