"""Arguments and options that several commands share, and the settings that they make."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from durable_memory.cli.output import Output
from durable_memory.memory.settings import Settings

Resource = Annotated[str, typer.Argument(help="Id of a declared memory.", show_default=False)]
Key = Annotated[str, typer.Argument(help="Key of the memory, such as user:42.", show_default=False)]
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
        help="The declared agent that calls: its mode holds, and it signs messages.",
        show_default=False,
    ),
]
Form = Annotated[Output, typer.Option("--output", "-o", help="A table for people, JSON for programs.")]
OperationId = Annotated[
    str | None,
    typer.Option(
        "--operation-id",
        metavar="ID",
        help="Repeating the command with the same id within 24 hours changes nothing more.",
        show_default=False,
    ),
]


def settings_from(
    *, redis_url: str | None = None, project: str | None = None, memories: Sequence[Path] | None = None, **more: object
) -> Settings:
    """Returns the settings: options that were given win over the environment. Raises MemoryInvalid."""
    given = {"redis_url": redis_url, "project": project, "memories": tuple(memories or ()) or None, **more}
    return Settings(**{name: value for name, value in given.items() if value is not None})
