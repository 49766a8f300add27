"""The JSON Schema for editors says the same as the models."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from durable_memory.memory.declarations.agent import AgentResource
from durable_memory.memory.declarations.declaration import ID_PATTERN
from durable_memory.memory.declarations.json_schema import json_schema
from durable_memory.memory.declarations.resource import MemoryResource

SCHEMA = json_schema()
PARTS: dict[str, dict[str, Any]] = SCHEMA["$defs"]


def test_the_schema_is_json_and_knows_both_documents() -> None:
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert {option["$ref"] for option in SCHEMA["oneOf"]} == {"#/$defs/MemoryResource", "#/$defs/AgentResource"}


@pytest.mark.parametrize("model", [MemoryResource, AgentResource])
def test_a_document_has_all_fields_and_needs_its_resource_and_id(model: type[MemoryResource | AgentResource]) -> None:
    part = PARTS[model.__name__]
    assert set(part["properties"]) == set(model.model_fields)
    required = {name for name, field in model.model_fields.items() if field.is_required()}
    assert set(part["required"]) == {"resource"} | required


@pytest.mark.parametrize("name", PARTS)
def test_unknown_fields_are_refused_at_each_level(name: str) -> None:
    assert PARTS[name]["additionalProperties"] is False


@pytest.mark.parametrize("name", PARTS)
def test_each_field_is_described(name: str) -> None:
    for field, schema in PARTS[name]["properties"].items():
        text = schema.get("description") or PARTS[schema["$ref"].rsplit("/", 1)[1]]["description"]
        assert text, field


def test_null_is_allowed_only_where_it_means_never() -> None:
    nullable = [
        f"{name}.{field}"
        for name, part in PARTS.items()
        for field, schema in part["properties"].items()
        if {"type": "null"} in schema.get("anyOf", [])
    ]
    assert nullable == ["Persistence.ttl"]


def test_defaults_are_what_a_document_may_hold() -> None:
    lease = PARTS["Locking"]["properties"]["flush_ttl"]
    assert lease["default"] == "30s"
    assert re.search(lease["pattern"], lease["default"])


def test_patterns_agree_with_what_the_models_accept() -> None:
    assert PARTS["MemoryResource"]["properties"]["id"]["pattern"] == ID_PATTERN
    duration = PARTS["MemoryResource"]["properties"]["open_group_ttl"]["pattern"]
    for text, matches in (("30s", True), ("150ms", True), ("30", False), ("1h30m", False)):
        assert bool(re.search(duration, text)) is matches
    version = PARTS["MemoryResource"]["properties"]["version"]["pattern"]
    assert re.search(version, "1.2.0")
    assert not re.search(version, "1.2")
