"""The document `resource: agent`, first tier: an agent and the one memory that it may use."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field

from durable_memory.memory.declarations.declaration import Declaration, Id
from durable_memory.memory.declarations.resource import Template
from durable_memory.memory.keys.templates import KeyTemplate


class AgentResource(Declaration):
    """An agent. Calls made in its name reach the memory that it declares, and no other."""

    resource: Literal["agent"] = "agent"
    """The kind of this document."""

    id: Id
    """Names the agent; unique in the project."""

    description: Annotated[str, Field(max_length=1000)] = ""
    """What the agent does."""

    memory: Id
    """The memory resource that it may use."""

    memory_key: Template | None = None
    """Makes the key for calls in its name that give none. Default: the memory's default_key_template."""

    @cached_property
    def key_template(self) -> KeyTemplate | None:
        """The template of memory_key, ready to be rendered."""
        return None if self.memory_key is None else KeyTemplate.parse(self.memory_key)
