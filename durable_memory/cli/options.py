"""Arguments and options that several commands share, one by one and together, and the settings that they make."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from durable_memory.cli.output import Output
from durable_memory.memory.settings import Settings

Resource = Annotated[str, typer.Argument(metavar="RESOURCE", help="Id of a declared memory.", show_default=False)]
Key = Annotated[str, typer.Argument(metavar="KEY", help="Key of the memory, such as user:42.", show_default=False)]
Ids = Annotated[
    list[str], typer.Argument(metavar="ID", help="Ids of messages, as `read -o json` shows them.", show_default=False)
]
RedisUrl = Annotated[
    str | None,
    typer.Option("--redis-url", metavar="URL", help="Where Redis is. Default: REDIS_URL.", show_default=False),
]
Project = Annotated[
    str | None,
    typer.Option(
        "--project", metavar="ID", help="Default: DURABLE_MEMORY_PROJECT, else 'default'.", show_default=False
    ),
]
Memories = Annotated[
    list[Path] | None,
    typer.Option(
        "--memories",
        metavar="DIR",
        help="Folder of YAML files; repeatable. Default: DURABLE_MEMORY_MEMORIES, else ./memories.",
        show_default=False,
    ),
]
AgentId = Annotated[
    str | None,
    typer.Option(
        "--agent",
        metavar="ID",
        help="The declared agent that calls: its mode holds, and it signs what is written.",
        show_default=False,
    ),
]
SummarizerName = Annotated[
    str | None,
    typer.Option(
        "--summarizer",
        metavar="MODULE:FACTORY",
        help="A summariser of your own for all resources. Default: DURABLE_MEMORY_SUMMARIZER, else as declared.",
        show_default=False,
    ),
]
Form = Annotated[Output, typer.Option("--output", "-o", help="A table for people, JSON for programs.")]
Authors = Annotated[
    bool,
    typer.Option("--authors", help="Give what an agent said as the assistant the agent's name, unless it has one."),
]
OperationId = Annotated[
    str | None,
    typer.Option(
        "--operation-id",
        metavar="ID",
        help="Repeating the command with the same id within 24 hours changes nothing more.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Where memories are stored, and where they are declared."""

    redis_url: RedisUrl = None
    project: Project = None
    memories: Memories = None

    def settings(self, **more: object) -> Settings:
        """Returns the settings: options that were given win over the environment. Raises MemoryInvalid."""
        folders = tuple(self.memories or ()) or None
        given = {"redis_url": self.redis_url, "project": self.project, "memories": folders, **more}
        return Settings(**{name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared(Connection):
    """A connection, and the form of the answer."""

    output: Form = Output.TABLE


@dataclass(frozen=True, slots=True)
class OneMemory(Shared):
    """One memory, and in whose name a command uses it."""

    resource: Resource
    key: Key
    agent: AgentId = None

    @property
    def title(self) -> str:
        """What stands above a table of it."""
        return f"{self.resource}  {self.key}"
