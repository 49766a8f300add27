"""The registry: an immutable snapshot of what is declared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self

from pydantic import BaseModel

from durable_memory.memory.declaration_faults import Fault
from durable_memory.memory.declarations.agent import AgentResource
from durable_memory.memory.declarations.loader import Check, Source, check_declared, load_folders
from durable_memory.memory.declarations.persistence import PersistenceType
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.declarations.summarizer import SummarizerChoice
from durable_memory.memory.declarations.token_provider import TokenProvider
from durable_memory.memory.declarations.validation import Resource
from durable_memory.memory.errors import MemoryInvalid, MemoryUnknownResource
from durable_memory.memory.types import did_you_mean

_LISTED: Final = 10
_MAX_ID: Final = 100


class Registry:
    """Declared memory resources and agents by their ids. Safe to share between threads and loops."""

    __slots__ = ("_agents", "_fingerprint", "_memories", "_sources")

    def __init__(self, sources: Iterable[Source]) -> None:
        """Takes declarations that were checked against each other: see `load` and `from_resources`."""
        self._sources = tuple(sources)
        self._fingerprint: str | None = None
        memories: dict[str, MemoryResource] = {}
        agents: dict[str, AgentResource] = {}
        for source in self._sources:
            if isinstance(source.declaration, MemoryResource):
                memories[source.declaration.id] = source.declaration
            elif source.declaration is not None:
                agents[source.declaration.id] = source.declaration
        self._memories: Mapping[str, MemoryResource] = MappingProxyType(memories)
        self._agents: Mapping[str, AgentResource] = MappingProxyType(agents)

    @classmethod
    def load(cls, folders: Iterable[Path | str], *, check: Check | None = None) -> Self:
        """Reads the `*.yaml` and `*.yml` files of these folders.

        folders: without their subfolders; or single files. check: finds what this process cannot do, in each document;
        its faults are reported with all others. Raises InvalidDeclarations with every fault of every file, and
        MemoryInvalid for what is no list.
        """
        return cls(load_folders(folders, check=check))

    @classmethod
    def from_resources(cls, resources: Iterable[Resource | Mapping[str, Any]]) -> Self:
        """Takes what is declared in code: models, or mappings that look like the YAML documents.

        Raises InvalidDeclarations with every fault of every declaration, and MemoryInvalid for what is no list.
        """
        return cls(check_declared(resources))

    def in_memory(self) -> Registry:
        """Returns the same declarations with all memories kept in the process, for tests of those that are shipped.

        They need no Redis and no keys then, also where they require encryption, and a circuit breaker has no effect.
        No test asks a provider: the rules write the summaries, unless the program gives a summariser, and no counting
        endpoint corrects estimates.
        """
        return Registry(map(_in_memory, self._sources))

    def memory(self, resource_id: str) -> MemoryResource:
        """Returns a memory resource.

        Raises MemoryUnknownResource if there is none of this id, MemoryInvalid for what is no text.
        """
        found = self._memories.get(_text("resource", resource_id))
        if found is None:
            raise MemoryUnknownResource(_unknown("memory resource", resource_id, self._memories, self._agents))
        return found

    def agent(self, agent_id: str) -> AgentResource:
        """Returns an agent.

        Raises MemoryUnknownResource if there is none of this id, MemoryInvalid for what is no text.
        """
        found = self._agents.get(_text("agent", agent_id))
        if found is None:
            raise MemoryUnknownResource(_unknown("agent", agent_id, self._agents, self._memories))
        return found

    def memories(self) -> tuple[MemoryResource, ...]:
        """Returns all memory resources, in the order in which they were declared."""
        return tuple(self._memories.values())

    def agents(self) -> tuple[AgentResource, ...]:
        """Returns all agents, in the order in which they were declared."""
        return tuple(self._agents.values())

    def prepare(self) -> None:
        """Builds the privacy policies now: each takes a tenth of a second, which no message should wait for."""
        for resource in self._memories.values():
            _ = resource.privacy  # is kept once it was asked for

    def uses(self, persistence: PersistenceType) -> bool:
        """Tells whether memories are kept in this kind of store."""
        return any(resource.persistence.type == persistence for resource in self.memories())

    @property
    def fingerprint(self) -> str:
        """What tells these declarations from others: the same in every process that declares the same."""
        if self._fingerprint is None:
            declared = sorted(each.model_dump_json() for each in (*self.memories(), *self.agents()))
            self._fingerprint = hashlib.sha256("\n".join(declared).encode()).hexdigest()
        return self._fingerprint

    def faults(self, check: Check) -> list[Fault]:
        """Returns what `check` finds in the documents, each with its place."""
        return [source.fault(*found) for source in self._sources for found in check(source.data)]


def checked_registry(value: object) -> Registry:
    """Returns declarations that are to be put in force. Raises MemoryInvalid for what is none."""
    if not isinstance(value, Registry):
        raise MemoryInvalid(f"registry: must be a Registry, as Registry.load gives it, not {type(value).__name__}")
    return value


def _in_memory(source: Source) -> Source:
    resource = source.declaration
    if not isinstance(resource, MemoryResource):
        return source
    kept = resource.persistence.model_copy(update={"type": "in_memory"})
    flushing = resource.flushing.model_copy(update={"summarizer": SummarizerChoice()})
    changed: dict[str, BaseModel] = {"flushing": flushing}
    if resource.token_provider is not None:
        # Made anew: a copy would keep the way to count that was worked out before.
        unasked = resource.token_provider.model_dump(exclude={"api_key_env", "endpoint"}, exclude_unset=True)
        changed["token_provider"] = TokenProvider.model_validate(unasked)
    # Also as it is written, which is what is looked at for models.
    written = {name: part.model_dump(mode="json") for name, part in changed.items()}
    return replace(
        source,
        data={**source.data, **written},
        declaration=resource.model_copy(update={"persistence": kept, **changed}),
    )


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise MemoryInvalid(f"{name}: must be the id of a declaration, not {type(value).__name__}")
    return value


def _unknown(kind: str, wanted: str, known: Mapping[str, object], others: Mapping[str, object]) -> str:
    # What was asked for comes from a caller: something far too long for an id may be a prompt.
    if len(wanted) > _MAX_ID:
        return f"no {kind} has an id of {len(wanted)} characters"
    if wanted in others:
        other = "a memory resource" if kind == "agent" else "an agent"
        return f"{wanted!r} is declared as {other}, not as the {kind} that is wanted here"
    near = did_you_mean(wanted, tuple(known))
    if not known:
        listed = f"; no {kind} is declared"
    elif len(known) <= _LISTED:
        listed = f"{' Declared' if near else '; declared'}: {', '.join(sorted(known))}"
    else:
        listed = ""
    return f"no {kind} {wanted!r} is declared{near}{listed}"
