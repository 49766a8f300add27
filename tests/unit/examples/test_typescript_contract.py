"""The types of the TypeScript example say the same as the schema of the wire contract."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from durable_memory.activities.wire_schema import wire_schema
from durable_memory.memory.task_queues import DEFAULT_TASK_QUEUE

FOLDER: Final = Path(__file__).parents[3] / "examples" / "typescript"
CONTRACT: Final = (FOLDER / "src" / "contract.ts").read_text()
SCHEMA: Final = wire_schema()

INTERFACE: Final = re.compile(r"^export interface (\w+) \{\n(.*?)^\}$", re.DOTALL | re.MULTILINE)
NAMES: Final = re.compile(r"^export type (\w+) =\n(.*?);$", re.DOTALL | re.MULTILINE)
FIELD: Final = re.compile(r"^  ('?[\w.]+'?)(\??): (.+);$", re.MULTILINE)
ANYTHING_ELSE: Final = "  [field: string]: unknown;\n"


def written() -> dict[str, dict[str, str]]:
    """The interfaces of the file: name -> field, with ? if it may be left out -> type."""
    return {
        name: {f"{field}{optional}": kind for field, optional, kind in FIELD.findall(body)}
        for name, body in INTERFACE.findall(CONTRACT)
    }


def fields(schema: dict[str, Any]) -> dict[str, str]:
    """The fields of a definition as TypeScript writes them."""
    required = schema["required"]
    return {f"{name}{'' if name in required else '?'}": kind(each) for name, each in schema["properties"].items()}


def kind(schema: dict[str, Any]) -> str:
    """A schema as TypeScript writes it."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(map(kind, schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        return " | ".join(f"'{value}'" for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        item = kind(schema["items"])
        return f"({item})[]" if " | " in item else f"{item}[]"
    return object_or_scalar(schema)


def object_or_scalar(schema: dict[str, Any]) -> str:
    """A schema of an object or a scalar as TypeScript writes it."""
    if "properties" in schema:
        return f"{{ {'; '.join(f'{name}: {each}' for name, each in fields(schema).items())} }}"
    name = str(schema.get("type", "unknown"))
    if name == "object":
        return f"Record<string, {kind(schema.get('additionalProperties', {}))}>"
    return "number" if name == "integer" else name


STRUCTURES: Final = [name for name, definition in SCHEMA["$defs"].items() if "properties" in definition]


def test_there_is_an_interface_for_each_definition_and_nothing_else() -> None:
    assert set(written()) == {"MemoryActivities", *STRUCTURES}


@pytest.mark.parametrize("name", STRUCTURES)
def test_an_interface_has_the_fields_of_its_definition(name: str) -> None:
    assert written()[name] == fields(SCHEMA["$defs"][name])


def test_only_parts_have_fields_that_nobody_knows() -> None:
    assert CONTRACT.count(ANYTHING_ELSE) == 1
    assert ANYTHING_ELSE in dict(INTERFACE.findall(CONTRACT))["ContentPart"]


def test_the_activities_have_their_names_requests_and_answers() -> None:
    sides = {name: each["properties"] for name, each in SCHEMA["properties"].items()}
    assert written()["MemoryActivities"] == {
        f"'{name}'": f"(request: {kind(side['request'])}) => Promise<{kind(side['answer'])}>"
        for name, side in sides.items()
    }


def test_the_error_types_are_those_of_the_contract() -> None:
    found = {name: re.findall(r"'(\w+)'", body) for name, body in NAMES.findall(CONTRACT)}
    assert found == {name: SCHEMA["$defs"][name]["enum"] for name in ("FinalErrorType", "RetriedErrorType")}


def test_the_example_calls_the_queue_of_the_contract() -> None:
    assert f"taskQueue: '{DEFAULT_TASK_QUEUE}'" in (FOLDER / "src" / "memory.ts").read_text()


def test_the_lockfile_pins_contents_and_names_no_registry() -> None:
    packages = json.loads((FOLDER / "package-lock.json").read_text())["packages"]
    installed = {name: package for name, package in packages.items() if name}
    assert [name for name, package in installed.items() if "resolved" in package] == []
    assert [name for name, package in installed.items() if "integrity" not in package] == []
