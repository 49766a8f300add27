"""The document `resource: agent`, in three tiers: an agent and the memories that it may use.

Tier 1 names one memory, tier 2 several that share one key, tier 3 gives each memory a key, a mode and a share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from durable_memory.memory.access import Mode, allows
from durable_memory.memory.declarations.declaration import Declaration, Id, Problem, Tokens, cross_field_error
from durable_memory.memory.declarations.memory_fields import Template
from durable_memory.memory.keys.templates import KeyTemplate

_MAX_LABEL: Final = 100


def _checked_label(value: str) -> str:
    # The label stands in brackets above what the memory holds, and nothing in it may look like the end of them.
    if not 1 <= len(value) <= _MAX_LABEL or value.strip() != value or not value.isprintable() or set("[]") & set(value):
        raise ValueError(
            f"must be one line of 1 to {_MAX_LABEL} printable characters, without brackets or space around it"
        )
    return value


class Inject(Declaration):
    """How the memory stands in the context of a model call. An `append-only` memory stands there only with it."""

    max_tokens: Tokens | None = None
    """The most that it takes of a context.

    Default: what the memories with a share leave, divided evenly.
    """

    label: (
        Annotated[
            str,
            AfterValidator(_checked_label),
            Field(title=f"one line of up to {_MAX_LABEL} characters, without brackets"),
        ]
        | None
    ) = None
    """What the model reads above it.

    Default: the id of the memory. If that stands in a context twice, one of them needs a label.
    """


class DeclaredMemory(Declaration):
    """A memory that an agent may use, with its own key, mode and share.

    Only where the document has no `memory`. An id alone stands for `{id: …}`.
    """

    id: Id
    """A memory resource that is declared. It may stand twice, under two keys."""

    key: Template | None = None
    """Makes the key of this memory for calls that give none.

    Default: the memory's `default_key_template`.
    """

    mode: Mode = "read-write"
    """What the agent may do with it: everything, append and read, or read."""

    inject: Inject = Inject()

    record_turns: bool = True
    """Whether the agent's `record_turn` writes here.

    `false` for a memory that takes only what a call on it appends, such as facts. Refused with `read-only`, where no
    turn is recorded anyway.
    """


def _one_or_switch(value: object) -> str:
    return "<switch>" if isinstance(value, bool) else "<id>"


def _one(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("must be the id of a memory, true or false; several memories stand in `memories`")  # noqa: TRY004 - what pydantic collects
    return value


def _id_or_mapping(value: object) -> str:
    return "<memory>" if isinstance(value, (Mapping, DeclaredMemory)) else "<id>"


# A tag stands in the place of a fault; the brackets tell it from a field, see `validation`.
MemoryOrSwitch: TypeAlias = Annotated[
    Annotated[bool, Tag("<switch>")] | Annotated[Id, BeforeValidator(_one), Tag("<id>")], Discriminator(_one_or_switch)
]
IdOrMemory: TypeAlias = Annotated[
    Annotated[Id, Tag("<id>")] | Annotated[DeclaredMemory, Tag("<memory>")], Discriminator(_id_or_mapping)
]


@dataclass(frozen=True, slots=True)
class Use:
    """One memory of an agent, whatever the tier that declared it.

    key: its template, None for the memory's own. max_tokens, label: of its part in a context. record_turns: whether the
    agent's turns are written to it, if its mode allows.
    """

    resource: str
    key: KeyTemplate | None = None
    mode: Mode = "read-write"
    max_tokens: int | None = None
    label: str | None = None
    record_turns: bool = True

    @property
    def takes_part(self) -> bool:
        """Whether it stands in a context: one that is append-only only if the declaration says how."""
        return self.mode != "append-only" or self.max_tokens is not None or self.label is not None

    @property
    def takes_turns(self) -> bool:
        """Whether a turn of the agent is written to it."""
        return self.record_turns and allows(self.mode, "record_turn")


class AgentResource(Declaration):
    """An agent. Calls made in its name reach the memories that it declares, and no other.

    There are three ways to declare them, and each document takes one: `memory` with an id; `memory: true` with
    `memories` and `memory_key`; `memories` alone.
    """

    resource: Literal["agent"] = "agent"
    """What the document declares."""

    id: Id
    """Its name, unique among the agents of the project; it may be that of a memory."""

    description: Annotated[str, Field(max_length=1000)] = ""
    """What the agent does; shown by `durable-memory validate`."""

    memory: MemoryOrSwitch | None = None
    """The one memory that calls in its name may reach; `true` for those of `memories`, all under `memory_key`; `false`
    for none.

    Default: those of `memories`.
    """

    memories: Annotated[tuple[IdOrMemory, ...], Field(strict=False)] | None = None
    """With `memory: true` the ids of its memories. Without `memory` ids or mappings, each with its own key and mode.

    Default: required unless `memory` is an id or `false`.
    """

    memory_key: Template | None = None
    """Makes the key for calls in its name that give none. Required with `memory: true`, refused with `memories` alone.

    Default: the memory's `default_key_template`.
    """

    @model_validator(mode="after")
    def _check_tier(self) -> Self:
        problems = _tier_problems(self)
        if problems:
            raise cross_field_error(problems)
        return self

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """The memories that it may use, in the order in which they are declared; none for a stateless agent."""
        shared = None if self.memory_key is None else KeyTemplate.parse(self.memory_key)
        listed = (self.memory,) if isinstance(self.memory, str) else self.memories or ()
        return tuple(Use(one, shared) if isinstance(one, str) else _use(one) for one in listed)


def _use(declared: DeclaredMemory) -> Use:
    key = None if declared.key is None else KeyTemplate.parse(declared.key)
    inject = declared.inject
    return Use(declared.id, key, declared.mode, inject.max_tokens, inject.label, record_turns=declared.record_turns)


_TIER_3_BESIDE_MEMORY: Final = (
    "stands beside `memory`; memories with keys and modes of their own need no `memory`, remove it"
)


def _tier_problems(agent: AgentResource) -> list[Problem]:
    """What is wrong between the fields; each mixture of tiers has a sentence of its own."""
    given = {name: getattr(agent, name) for name in ("memories", "memory_key") if getattr(agent, name) is not None}
    if isinstance(agent.memory, str):
        return [("memories", _TIER_3_BESIDE_MEMORY)] if "memories" in given else []
    if agent.memory is True:
        return _tier_2_problems(agent.memories, agent.memory_key)
    if agent.memory is False:
        return [(name, "stands beside memory: false, which declares an agent without memory") for name in given]
    return _tier_3_problems(agent)


def _tier_3_problems(agent: AgentResource) -> list[Problem]:
    if agent.memories is None:
        return [("memory", "is missing; write the id of a memory, `memories`, or false for an agent without memory")]
    if not agent.memories:
        return [("memories", "names no memory; write memory: false for an agent without memory")]
    if agent.memory_key is not None:
        return [("memory_key", "is for one memory, or for memory: true; in `memories` each memory has its own key")]
    return [
        (f"memories.{index}.record_turns", "is of no use with mode: read-only, which records no turn; remove it")
        for index, one in enumerate(agent.memories)
        if isinstance(one, DeclaredMemory) and one.mode == "read-only" and "record_turns" in one.model_fields_set
    ]


def _tier_2_problems(memories: tuple[Any, ...] | None, key: str | None) -> list[Problem]:
    if memories is None and key is None:
        return [("memory", "is true, but names no memory; write its id, or add `memories` and `memory_key`")]
    problems = []
    if memories is None:
        problems.append(("memories", "is missing; memory: true takes the list of ids that share memory_key"))
    elif not memories:
        problems.append(("memories", "names no memory; list the ids that share memory_key"))
    elif not all(isinstance(one, str) for one in memories):
        problems.append(("memories", _TIER_3_BESIDE_MEMORY))
    if key is None:
        problems.append(("memory_key", "is missing; memory: true puts all its memories under this key"))
    return problems
