"""The command that checks what is declared: validate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from durable_memory.cli import declared_tables, tables
from durable_memory.cli.options import Connection, Form, Memories
from durable_memory.cli.output import Output, say, show
from durable_memory.memory.declarations.model_access import missing_extra
from durable_memory.memory.declarations.notes import notes_on
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import InvalidDeclarations
from durable_memory.memory.faults import Fault
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

    Every fault is listed with its file and line; also a model that cannot be asked, since the extra llm is not
    installed here. Exit code 1 if there is one. Notes name what is valid and may yet surprise: the key of a model that
    is not set here, an agent's memory whose key only its callers can give.
    """
    faults: tuple[Fault, ...] = ()
    notes: list[Fault] = []
    valid = Registry(())
    settings = Connection(memories=[*(folders or ()), *(memories or ())]).settings()
    try:
        # A summariser of the program's own writes for all resources: then their models are not asked.
        models_write = settings.summarizer is None
        valid = Registry.load(settings.memories, check=missing_extra if models_write else None)
        notes = notes_on(valid, models_write=models_write)
    except InvalidDeclarations as invalid:
        faults = invalid.faults
    data = {
        "valid": not faults,
        "memories": [resource.id for resource in valid.memories()],
        "budgets": {
            each.id: {"max_tokens": each.token_budget, "max_messages": each.max_messages} for each in valid.memories()
        },
        "agents": [agent.id for agent in valid.agents()],
        "faults": to_json(faults),
        "notes": to_json(tuple(notes)),
    }
    if faults:
        show(output, data, declared_tables.faults_table(faults))
        say(f"Error: the declarations have {tables.counted(len(faults), 'fault')}.")
        raise typer.Exit(1)
    show(output, data, declared_tables.valid_table(valid))
    for note in notes:
        say(f"Note: {note}.")
