"""Arguments and options that several commands share, one by one and together, and the settings that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from durable_memory.cli.output import Output
from durable_memory.memory.settings import Settings
from durable_memory.memory.types import MemoryRef

Resource = Annotated[str, typer.Argument(metavar="RESOURCE", help="Id of a declared memory.", show_default=False)]
Key = Annotated[
    str | None,
    typer.Argument(
        metavar="KEY",
        help="Key of the memory, such as user:42. Left out, its template makes it: then give at least one of --input, "
        "--workflow-id and --workflow-type.",
        show_default=False,
    ),
]
Input = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=VALUE",
        help="A value for the template that makes the key; repeatable.",
        show_default=False,
    ),
]
WorkflowId = Annotated[
    str | None,
    typer.Option(
        "--workflow-id",
        metavar="ID",
        help="The workflow that is meant, for a key made of workflow.id.",
        show_default=False,
    ),
]
WorkflowType = Annotated[
    str | None,
    typer.Option(
        "--workflow-type", metavar="NAME", help="Its type, for a key made of workflow.type.", show_default=False
    ),
]
MAKING_A_KEY: Final = ("values", "workflow_id", "workflow_type")
"""The parameters that stand in the place of a key."""
Ids = Annotated[
    list[str],
    typer.Argument(metavar="ID", help="Ids of messages, which `read --show-ids` shows.", show_default=False),
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
        help="The declared agent that calls: its mode holds, and its template makes the key.",
        show_default=False,
    ),
]
Signer = Annotated[
    str | None,
    typer.Option(
        "--agent",
        metavar="ID",
        help="The declared agent that calls: its mode holds, its template makes the key, and it signs the messages.",
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
    key: Key = None
    values: Input = None
    workflow_id: WorkflowId = None
    workflow_type: WorkflowType = None
    agent: AgentId = None

    @property
    def ref(self) -> MemoryRef:
        """The memory that is named, by its key or by what makes it."""
        return MemoryRef(
            self.resource,
            key=self.key,
            input=named_values(self.values) or None,
            agent=self.agent,
            workflow_id=self.workflow_id,
            workflow_type=self.workflow_type,
        )


@dataclass(frozen=True, slots=True)
class OneMemoryToAppendTo(OneMemory):
    """One memory, and who says what is appended to it."""

    agent: Signer = None


def named_values(given: Sequence[str] | None) -> dict[str, str]:
    """Reads the NAME=VALUE pairs of --input; all values are text."""
    values: dict[str, str] = {}
    for pair in given or ():
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise typer.BadParameter("--input takes NAME=VALUE")
        if name in values:
            raise typer.BadParameter(f"--input {name} is given twice")
        values[name] = value
    return values
