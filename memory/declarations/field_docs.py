"""What each field of a document is, in words: its path, values, unit, default and effect, as the models say.

Types, ranges and units come from the JSON Schema, all else from the docstrings of the models and their fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from durable_memory.memory.declarations.json_schema import json_schema
from durable_memory.memory.declarations.not_supported import Kind
from durable_memory.memory.declarations.validation import KINDS

_DEFAULT: Final = re.compile(r"(?:^|\n\n)Default: (.*?)\.?(?:\n\n|$)", re.DOTALL)
"""The paragraph of a docstring that says what holds where a field is left out."""

_LIMIT: Final = 1_000_000_000
"""An upper bound that only keeps numbers sane, and says nothing to a reader."""


@dataclass(frozen=True, slots=True)
class FieldDoc:
    """A field. path: dotted, from the top of the document. values, default, text: Markdown in one line.

    part: whether its value is a mapping of fields, or a list of such, which are a PartDoc of their own.
    """

    path: str
    values: str
    default: str
    text: str
    part: str | None = None

    @property
    def required(self) -> bool:
        """Whether it has to be written, always or where another field asks for it."""
        return self.default.startswith("required")


@dataclass(frozen=True, slots=True)
class PartDoc:
    """A document, or a part of one that is a mapping of fields.

    path: of the part, `""` for the document. rules: Markdown paragraphs on its fields together; of a part what is said
    beyond the sentence that stands at its own field.
    """

    path: str
    rules: tuple[str, ...]
    fields: tuple[FieldDoc, ...]


def field_docs(kind: Kind) -> tuple[PartDoc, ...]:
    """Returns the document `resource: <kind>`, and then its parts in the order of their fields."""
    schema = json_schema()["$defs"]
    return tuple(_parts(schema, KINDS[kind].__name__, ""))


def _parts(definitions: Mapping[str, Any], name: str, path: str) -> Iterator[PartDoc]:
    definition = definitions[name]
    inner = {field: _part_of(property_schema) for field, property_schema in definition["properties"].items()}
    docs = []
    for field, property_schema in definition["properties"].items():
        part = inner[field]
        required = field in definition.get("required", ())
        about = definitions.get(part or "")
        docs.append(_field(f"{path}.{field}".lstrip("."), property_schema, about, required=required))
    paragraphs = _paragraphs(definition["description"])
    yield PartDoc(path, paragraphs if not path else paragraphs[1:], tuple(docs))
    for doc, part in zip(docs, inner.values(), strict=True):
        if part is not None and doc.part is not None:
            yield from _parts(definitions, part, doc.part)


def _field(path: str, schema: Mapping[str, Any], part: Mapping[str, Any] | None, *, required: bool) -> FieldDoc:
    is_list = "items" in schema
    about = schema.get("description") or (part or {}).get("description", "")
    stated = _DEFAULT.search(about)
    if required:
        default = "required"
    elif stated is not None:
        default = " ".join(stated[1].split())
    elif part is not None:
        default = ""  # its fields have theirs
    elif "default" not in schema:
        raise ValueError(f"{path}: the docstring needs a last paragraph `Default: …`, since the value is computed")
    else:
        default = _value(schema["default"]) if schema["default"] != "" else "empty"
    text = _paragraphs(about)
    if part is not None and not is_list:
        return FieldDoc(path, "fields", default, text[0], path)
    return FieldDoc(path, _values(schema), default, " ".join(text), f"{path}[]" if part is not None else None)


def _paragraphs(docstring: str) -> tuple[str, ...]:
    rest = _DEFAULT.sub("\n\n", docstring).strip()
    return tuple(" ".join(paragraph.split()) for paragraph in rest.split("\n\n"))


def _part_of(schema: Mapping[str, Any]) -> str | None:
    """Returns the definition that a value is an example of, or the items of a list."""
    options = [schema, *schema.get("items", {}).get("oneOf", ())]
    return next((option["$ref"].rpartition("/")[2] for option in options if "$ref" in option), None)


def _values(schema: Mapping[str, Any]) -> str:
    options = schema.get("oneOf") or schema.get("anyOf")
    if options is not None:
        return " or ".join(map(_values, options))
    if "$ref" in schema:
        return "fields"
    if "const" in schema:
        return _value(schema["const"])
    if "enum" in schema:
        return ", ".join(map(_value, schema["enum"]))
    return _SAYING[schema["type"]](schema)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"{value:,g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else f"`{value}`"


def _text(schema: Mapping[str, Any]) -> str:
    longest, title = schema.get("maxLength"), schema.get("title", "text")
    if longest is None:
        return str(title)
    shortest = schema.get("minLength", 0)
    return f"{title}, {f'{shortest} to' if shortest else 'up to'} {longest:,} characters"


def _number(schema: Mapping[str, Any]) -> str:
    title = schema.get("title", "number")
    low = _value(schema["minimum"]) if "minimum" in schema else f"above {_value(schema['exclusiveMinimum'])}"
    high = _value(schema["maximum"]) if "maximum" in schema else f"below {_value(schema['exclusiveMaximum'])}"
    if schema["type"] == "number":
        return f"{title}, {low} to {high}"
    return f"{low} or more {title}" if schema.get("maximum") == _LIMIT else f"{low} to {high} {title}"


def _list(schema: Mapping[str, Any]) -> str:
    most = f", up to {schema['maxItems']}" if "maxItems" in schema else ""
    return f"list{most}: {_values(schema['items'])}"


def _names(schema: Mapping[str, Any]) -> str:
    return f"names, each with a {_values(schema['additionalProperties'])}"


_SAYING: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "boolean": lambda _: "`true`, `false`",
    "null": lambda _: "`null`",
    "string": _text,
    "integer": _number,
    "number": _number,
    "array": _list,
    "object": _names,
}
"""How values of a type of JSON Schema are described."""
