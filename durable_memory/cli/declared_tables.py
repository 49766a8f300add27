"""The tables that people see of declarations: what is declared, its faults, and the schemas of documents and calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from durable_memory.cli.table import Table, listing
from durable_memory.cli.wording import counted
from durable_memory.memory.declaration_faults import Fault
from durable_memory.memory.declarations.agent import Use
from durable_memory.memory.declarations.durations import format_duration
from durable_memory.memory.declarations.field_docs import field_docs
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.declarations.validation import KINDS


def resources_table(registry: Registry) -> Table:
    """A table of what is declared."""
    rows = (
        (f"{resource.id}\n{resource.version or ''}".strip(), _declared(resource)) for resource in registry.memories()
    )
    return listing("Declared memory resources", ("resource", "declaration"), rows, whole=("resource",))


def agents_table(registry: Registry) -> Table:
    """What agents may do. A row for each memory of each; an agent without any has one row."""
    rows = [
        (agent.id, *row)
        for agent in registry.agents()
        for row in [_use(use, registry.memory(use.resource)) for use in agent.uses] or [("none", "", "", "", "")]
    ]
    columns = ("agent", "memory", "mode", "key", "turns", "in a context")
    return listing("Declared agents", columns, rows, whole=("agent", "memory"))


def valid_table(registry: Registry) -> Table:
    """What a check without faults found."""
    rows = [
        ("memory", resource.id, ", ".join(_budget(resource)), resource.description) for resource in registry.memories()
    ]
    rows += [("agent", agent.id, "", agent.description) for agent in registry.agents()]
    return listing("All declarations are valid", ("kind", "id", "budget", "description"), rows, whole=("id",))


def faults_table(faults: Sequence[Fault]) -> Table:
    """Every fault of the declarations."""
    rows = ((fault.place, fault.path, fault.problem) for fault in faults)
    return listing("Faults", ("place", "field", "problem"), rows)


def fields_table() -> Table:
    """The fields of the documents."""
    fields = (field for kind in KINDS for part in field_docs(kind) for field in part.fields if field.values != "fields")
    rows = (
        (field.path, f"{field.values}; {'' if field.required else 'default: '}{field.default}\n{field.text}\n")
        for field in fields
    )
    return listing("Fields of the YAML documents", ("field", "meaning"), rows)


def activities_table(schema: Mapping[str, Any]) -> Table:
    """The public activities, with the fields of their requests and answers; a field that may be left out has a `?`."""

    def listed(side: Mapping[str, str]) -> str:
        if "$ref" not in side:
            return "those of the activity that is named"
        definition = schema["$defs"][side["$ref"].rpartition("/")[2]]
        required = definition["required"]
        return ", ".join(name if name in required else f"{name}?" for name in definition["properties"])

    sides = ((name, activity["properties"]) for name, activity in schema["properties"].items())
    rows = ((name, listed(side["request"]), listed(side["answer"])) for name, side in sides)
    return listing("Activities, called by name", ("activity", "request", "answer"), rows)


def _declared(resource: MemoryResource) -> str:
    facts_ = [
        *_budget(resource),
        *_model(resource),
        resource.policy,
        resource.flushing.strategy,
        f"scope {resource.scope}",
        "never expires" if resource.ttl is None else f"expires {format_duration(resource.ttl)} after the last write",
    ]
    return f"{resource.description}\n{', '.join(facts_)}".strip()


def _use(use: Use, resource: MemoryResource) -> tuple[str, ...]:
    template = use.key or resource.key_template
    key = "given by the call" if template is None else template.source
    return use.resource, use.mode, key, "yes" if use.takes_turns else "no", "".join(_context(use))


def _context(use: Use) -> Iterator[str]:
    if not use.takes_part:
        yield "no, without inject"
        return
    yield "yes" if use.max_tokens is None else f"up to {counted(use.max_tokens, 'token')}"
    if use.label is not None:
        yield f", as [{use.label}]"


def _budget(resource: MemoryResource) -> Iterator[str]:
    limits = ((resource.token_budget, "token"), (resource.max_messages, "message"))
    return (counted(limit, unit) for limit, unit in limits if limit)


def _model(resource: MemoryResource) -> Iterator[str]:
    provider = resource.token_provider
    if provider is not None:
        ratio = resource.max_context_ratio
        share = "" if ratio is None else f", at most {ratio:.3g} of its window"
        yield f"{provider.model}{share}"
