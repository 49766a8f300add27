"""Commands that keep messages, or bring them back: pin, unpin, restore."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from durable_memory.cli import tables
from durable_memory.cli.options import AgentId, Form, Key, Memories, OperationId, Project, RedisUrl, Resource
from durable_memory.cli.output import Output, show
from durable_memory.cli.session import with_memory
from durable_memory.memory.types.answers import to_json

Ids = Annotated[list[str], typer.Argument(help="Ids of messages, as `read -o json` shows them.", show_default=False)]


def pin(  # noqa: PLR0913 - each argument is one of the command line
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
    """Keep messages in the view, with their groups, until they are unpinned.

    Exit code 1 if one of them is not in the view.
    """
    live = with_memory(
        resource,
        key,
        lambda memory: memory.pin(ids, operation_id=operation_id),
        agent=agent,
        redis_url=redis_url,
        project=project,
        memories=memories,
    )
    _show(output, resource, key, ids, live, word="pinned")


def unpin(  # noqa: PLR0913 - each argument is one of the command line
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
    """Let messages go like others again, with their groups.

    Exit code 1 if one of them is not in the view.
    """
    live = with_memory(
        resource,
        key,
        lambda memory: memory.unpin(ids, operation_id=operation_id),
        agent=agent,
        redis_url=redis_url,
        project=project,
        memories=memories,
    )
    _show(output, resource, key, ids, live, word="unpinned")


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


def _show(output: Output, resource: str, key: str, ids: Sequence[str], live: Sequence[str], *, word: str) -> None:
    missing = [each for each in ids if each not in live]
    show(output, {"touched": list(live)}, tables.pin_table(resource, key, word, live, missing))
    if missing:
        raise typer.Exit(1)
