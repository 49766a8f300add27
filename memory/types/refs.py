"""References: what a workflow passes to an activity, or to another workflow, instead of messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from durable_memory.memory.types.clean import InvalidValue


@dataclass(frozen=True, slots=True)
class MemoryRef:
    """A small, serialisable reference to one memory.

    Either `key` is given, or the worker renders it from `input` with the template of the agent or the resource.
    `agent` names the declared agent on whose behalf the memory is used.
    """

    resource: str
    key: str | None = None
    input: dict[str, Any] | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class AgentRef:
    """A small, serialisable reference to a declared agent and the input of its key templates."""

    id: str
    input: dict[str, Any] | None = None


def refuse_beside_reference(**given: object) -> None:
    """Raises InvalidValue for what is given beside a reference, which holds all of it."""
    for name, value in given.items():
        if value is not None:
            raise InvalidValue(name, "stands beside a reference, which has its own; give one of the two")
