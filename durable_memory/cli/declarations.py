"""The commands on what is declared, which ask no server: validate, resources, agents."""

from __future__ import annotations

import typer

from durable_memory.cli import declared_tables
from durable_memory.cli.options import Connection, Form, Memories
from durable_memory.cli.output import Output, say, show
from durable_memory.cli.wording import counted
from durable_memory.memory.declaration_faults import Fault
from durable_memory.memory.declarations.agent import Use
from durable_memory.memory.declarations.model_access import missing_extra
from durable_memory.memory.declarations.notes import notes_on
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import InvalidDeclarations
from durable_memory.memory.types.answers import to_json


def validate(*, memories: Memories = None, output: Form = Output.TABLE) -> None:
    """Check declarations, without any server.

    Every fault is listed with its file and line; also a model that cannot be asked, since the extra llm is not
    installed here. Exit code 1 if there is one. Notes name what is valid and may yet surprise: the key of a model that
    is not set here, an agent's memory whose key only its callers can give.
    """
    faults: tuple[Fault, ...] = ()
    notes: list[Fault] = []
    valid = Registry(())
    settings = Connection(memories=memories).settings()
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
            memory.id: {"max_tokens": memory.token_budget, "max_messages": memory.max_messages}
            for memory in valid.memories()
        },
        "agents": [agent.id for agent in valid.agents()],
        "faults": to_json(faults),
        "notes": to_json(tuple(notes)),
    }
    if faults:
        show(output, data, declared_tables.faults_table(faults))
        say(f"Error: the declarations have {counted(len(faults), 'fault')}.")
        raise typer.Exit(1)
    show(output, data, declared_tables.valid_table(valid))
    for note in notes:
        say(f"Note: {note}.")


def resources(*, memories: Memories = None, output: Form = Output.TABLE) -> None:
    """Show the declared memory resources."""
    declared = Registry.load(Connection(memories=memories).settings().memories)
    data = [_declaration(memory) for memory in declared.memories()]
    show(output, data, declared_tables.resources_table(declared))


def agents(*, memories: Memories = None, output: Form = Output.TABLE) -> None:
    """Show the declared agents, and what they may do with which memory."""
    declared = Registry.load(Connection(memories=memories).settings().memories)
    data = [
        {
            "id": agent.id,
            "description": agent.description,
            "memories": [_use(use, declared.memory(use.resource)) for use in agent.uses],
        }
        for agent in declared.agents()
    ]
    show(output, data, declared_tables.agents_table(declared))


def _use(use: Use, resource: MemoryResource) -> dict[str, object]:
    template = use.key or resource.key_template
    return {
        "id": use.resource,
        "mode": use.mode,
        "key": None if template is None else template.source,
        "max_tokens": use.max_tokens,
        "label": use.label,
        "in_context": use.takes_part,
        "takes_turns": use.takes_turns,
    }


def _declaration(resource: MemoryResource) -> dict[str, object]:
    return {
        "id": resource.id,
        "version": resource.version,
        "description": resource.description,
        "max_tokens": resource.token_budget,
        "max_messages": resource.max_messages,
        "max_context_ratio": resource.max_context_ratio,
        "model": None if resource.token_provider is None else resource.token_provider.model,
        "eviction_policy": resource.policy,
        "flushing": resource.flushing.strategy,
        "persistence": resource.persistence.type,
        "scope": resource.scope,
        "ttl_seconds": None if resource.ttl is None else resource.ttl.total_seconds(),
    }
