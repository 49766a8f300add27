"""Commands on what is declared: validate, list, schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from durable_memory.activities.wire_schema import wire_schema
from durable_memory.cli import tables
from durable_memory.cli.options import Form, Memories, Project, RedisUrl, settings_from
from durable_memory.cli.output import Output, say, show
from durable_memory.cli.session import failing_in_words, refuse_in_memory, with_client
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.declarations.faults import Fault
from durable_memory.memory.declarations.json_schema import json_schema
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import InvalidDeclarations
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.types import MemoryStats
from durable_memory.memory.types.answers import to_json


def validate(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR",
            help="Folders of YAML files. Default: DURABLE_MEMORY_MEMORIES, else ./memories.",
            show_default=False,
        ),
    ] = None,
    *,
    memories: Memories = None,
    output: Form = Output.TABLE,
) -> None:
    """Check declarations, without any server.

    Every fault is listed with its file and line. Exit code 1 if there is one.
    """
    faults: tuple[Fault, ...] = ()
    valid = Registry(())
    with failing_in_words():
        settings = settings_from(memories=[*(folders or ()), *(memories or ())])
        try:
            valid = Registry.load(settings.memories)
        except InvalidDeclarations as invalid:
            faults = invalid.faults
    data = {
        "valid": not faults,
        "memories": [resource.id for resource in valid.memories()],
        "agents": [agent.id for agent in valid.agents()],
        "faults": to_json(faults),
    }
    if faults:
        show(output, data, tables.faults_table(faults))
        say(f"Error: the declarations have {tables.counted(len(faults), 'fault')}.")
        raise typer.Exit(1)
    show(output, data, tables.valid_table(valid))


def list_(
    resource: Annotated[
        str | None,
        typer.Argument(help="Its memories. Default: what is declared.", show_default=False),
    ] = None,
    *,
    redis_url: RedisUrl = None,
    project: Project = None,
    memories: Memories = None,
    output: Form = Output.TABLE,
) -> None:
    """List the declared resources, or the memories of one of them."""
    if resource is None:
        with failing_in_words():
            declared = Registry.load(settings_from(memories=memories).memories)
        show(output, [_declaration(each) for each in declared.memories()], tables.resources_table(declared))
        return

    async def collect(client: MemoryClient) -> list[tuple[MemoryId, MemoryStats]]:
        refuse_in_memory(client.registry.memory(resource))
        return [(memory, await client.at(memory).stats()) async for memory in client.list_memories(resource)]

    found = with_client(collect, redis_url=redis_url, project=project, memories=memories)
    data = [{"key": memory.key, **to_json(counters)} for memory, counters in found]
    show(output, data, tables.memories_table(resource, found))


def schema(
    output: Annotated[
        Output, typer.Option("--output", "-o", help="JSON Schema for editors, or a table of the fields.")
    ] = Output.JSON,
    *,
    wire: Annotated[
        bool, typer.Option("--wire", help="Of the activities that other languages call by name instead.")
    ] = False,
) -> None:
    """Print the JSON Schema of the YAML documents, or of the wire contract."""
    document = wire_schema() if wire else json_schema()
    show(output, document, tables.activities_table(document) if wire else tables.schema_table(document))


def _declaration(resource: MemoryResource) -> dict[str, object]:
    return {
        "id": resource.id,
        "version": resource.version,
        "description": resource.description,
        "max_tokens": resource.max_tokens,
        "max_messages": resource.max_messages,
        "eviction_policy": resource.eviction_policy.type,
        "flushing": resource.flushing.type,
        "persistence": resource.persistence.type,
        "scope": resource.scope,
        "ttl_seconds": None if resource.ttl is None else resource.ttl.total_seconds(),
    }
