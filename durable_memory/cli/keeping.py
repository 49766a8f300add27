"""Commands that keep messages, or bring them back: pin, unpin, restore."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, TypeAlias

import typer

from durable_memory.cli import tables
from durable_memory.cli.options import AgentId, Form, Key, Memories, OperationId, Project, RedisUrl, Resource
from durable_memory.cli.output import Output, show
from durable_memory.cli.session import with_memory
from durable_memory.memory.memory import Memory
from durable_memory.memory.types.answers import to_json

Ids = Annotated[list[str], typer.Argument(help="Ids of messages, as `read -o json` shows them.", show_default=False)]
Command: TypeAlias = Callable[..., None]


def _on_ids(
    do: Callable[[Memory, Sequence[str], str | None], Awaitable[Sequence[str]]], *, told: str, about: str
) -> Command:
    """Makes the command of an operation on messages by their ids.

    do: answers with the ids that are live. told: what is said of these. about: what help says of the command.
    """

    def command(  # noqa: PLR0913 - each argument is one of the command line
        resource: Resource,
        key: Key,
        ids: Ids,
        *,
        operation_id: OperationId = None,
        agent: AgentId = None,
        redis_url: RedisUrl = None,
        project: Project = None,
        memories: Memories = None,
        output: Form = Output.TABLE,
    ) -> None:
        live = with_memory(
            resource,
            key,
            lambda memory: do(memory, ids, operation_id),
            agent=agent,
            redis_url=redis_url,
            project=project,
            memories=memories,
        )
        missing = [each for each in ids if each not in live]
        show(output, {"touched": list(live)}, tables.pin_table(resource, key, told, live, missing))
        if missing:
            raise typer.Exit(1)

    command.__doc__ = f"{about}\n\nExit code 1 if one of them is not in the view."
    return command


pin = _on_ids(
    lambda memory, ids, operation_id: memory.pin(ids, operation_id=operation_id),
    told="pinned",
    about="Keep messages in the view, with their groups, until they are unpinned.",
)
unpin = _on_ids(
    lambda memory, ids, operation_id: memory.unpin(ids, operation_id=operation_id),
    told="unpinned",
    about="Let messages go like others again, with their groups.",
)


def restore(  # noqa: PLR0913 - each argument is one of the command line
    resource: Resource,
    key: Key,
    backup: Annotated[str, typer.Argument(metavar="BACKUP", help="Its id, as `clear --backup` and `stats` show it.")],
    *,
    if_version: Annotated[
        str | None,
        typer.Option("--if-version", metavar="VERSION", help="Only over this version; 'absent' over none."),
    ] = None,
    operation_id: OperationId = None,
    agent: AgentId = None,
    redis_url: RedisUrl = None,
    project: Project = None,
    memories: Memories = None,
    output: Form = Output.TABLE,
) -> None:
    """Replace a memory by what `clear --backup` has kept of it."""
    result = with_memory(
        resource,
        key,
        lambda memory: memory.restore(backup, if_version=if_version, operation_id=operation_id),
        agent=agent,
        redis_url=redis_url,
        project=project,
        memories=memories,
    )
    show(output, to_json(result), tables.restore_table(resource, key, result))
