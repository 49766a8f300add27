"""What is valid, and yet worth a word to who wrote it: keys that this process lacks, or that nothing makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from durable_memory.memory.declaration_faults import Fault, Finding
from durable_memory.memory.declarations.agent import AgentResource
from durable_memory.memory.declarations.model_access import missing_counting_key, missing_key
from durable_memory.memory.declarations.registry import Registry


def notes_on(registry: Registry, *, models_write: bool) -> list[Fault]:
    """Returns what to say of declarations, each with its place.

    models_write: whether the language models that are declared are asked, and no summariser of the program's own.
    """

    def found(document: Mapping[str, Any]) -> Iterator[Finding]:
        if document["resource"] == "agent":
            yield from _keyless(registry.agent(document["id"]), registry)
            return
        yield from missing_counting_key(document)
        for location, problem in missing_key(document) if models_write else ():
            yield location, f"{problem} here; a worker does not start without it"

    return registry.faults(found)


def _keyless(agent: AgentResource, registry: Registry) -> Iterator[Finding]:
    """Yields the memories of an agent whose key no template makes: calls on them give it, one on all cannot."""
    for index, use in enumerate(agent.uses):
        if use.key is None and registry.memory(use.resource).key_template is None:
            # No fault: an agent whose calls all give their keys is complete without.
            location = ("memory",) if isinstance(agent.memory, str) else ("memories", str(index))
            problem = (
                f"nothing makes the key of memory {use.resource!r} for agent {agent.id!r}: calls on it have to give "
                "the key, and the agent has no context and records no turn in all of its memories"
            )
            yield location, problem
