"""The wire contract as a JSON Schema, for callers in other languages: made from the types, so it cannot differ."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from datetime import datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from durable_memory.activities import wire
from durable_memory.activities.answers import JsonObject
from durable_memory.activities.operations import PUBLIC
from durable_memory.memory.errors import MemoryFault, kinds_of_faults
from durable_memory.memory.task_queues import DEFAULT_TASK_QUEUE
from durable_memory.memory.types import STORE_GIVEN, Message, Provenance, ToolCall

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_ABOUT: Final = (
    f"Version {wire.CONTRACT}. Start an activity by its name on the project's task queue ({DEFAULT_TASK_QUEUE!r}, "
    f"'{DEFAULT_TASK_QUEUE}-<project>' for a project other than 'default', unless configured otherwise) with one "
    "argument, the request. Unknown fields of a request are refused; answers may "
    "get new fields, so ignore those you do not know. A call that fails for good has an application error whose type "
    "is a FinalErrorType; after a RetriedErrorType Temporal tries again. A call without an operation_id is named after "
    "its activity, so its attempts are applied once; a new run of the workflow is a new operation, unless you give the "
    "id."
)
_SCALARS: Final[Mapping[object, JsonObject]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    NoneType: {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
}
_CONTENT_PART: Final[JsonObject] = {
    "description": "A typed part of a content, as the model's API has it; unknown types are kept.",
    "type": "object",
    "properties": {"type": {"type": "string"}},
    "required": ["type"],
}
_SPARSE: Final[Mapping[type, tuple[str, ...]]] = {Message: ("role", "content"), Provenance: ()}
"""Types that leave out what is not set, with the fields that they always have."""


def wire_schema() -> JsonObject:
    """Returns the schema of an object with a request and an answer under the name of each public activity."""
    definitions: JsonObject = {
        "ToolCall": _tool_call({}),
        "ToolCallInput": _tool_call({"additionalProperties": False}),
        "ContentPart": _CONTENT_PART,
        **_error_types(),
    }
    requests, answers = _Requests(definitions), _Answers(definitions)
    activities = {
        name: {
            "type": "object",
            "properties": {"request": requests.schema(operation.request), "answer": answers.schema(operation.answer)},
            "required": ["request", "answer"],
        }
        for name, operation in PUBLIC.items()
    }
    return {
        "$schema": _DIALECT,
        "title": "The wire contract of Durable Memory",
        "description": _ABOUT,
        "type": "object",
        "properties": activities,
        "required": list(activities),
        "$defs": dict(sorted(definitions.items())),
    }


@dataclass(frozen=True, slots=True)
class _Side(ABC):
    """One side of the border; `definitions` collects what its schemas refer to."""

    definitions: JsonObject

    def schema(self, hint: Any) -> JsonObject:
        """Returns the schema of a type hint."""
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            hint = arguments[1]
        if is_dataclass(hint):
            return self._reference(hint)
        if origin is Literal:
            return {"type": "string", "enum": list(arguments)}
        if origin in (Union, UnionType):
            return {"anyOf": [self.schema(option) for option in arguments]}
        if origin in (list, tuple):
            return {"type": "array", "items": self.schema(arguments[0])}
        if origin in (dict, Mapping):
            # Its values are of one type, or any JSON.
            values = _SCALARS.get(arguments[1])
            return {"type": "object"} if values is None else {"type": "object", "additionalProperties": dict(values)}
        return dict(_SCALARS[hint])

    def _reference(self, kind: Any) -> JsonObject:
        name = self._name(kind)
        if name not in self.definitions:
            self.definitions[name] = {}  # holds the place while its parts are made
            self.definitions[name] = self._definition(kind)
        return {"$ref": f"#/$defs/{name}"}

    def _definition(self, kind: type) -> JsonObject:
        hints = get_type_hints(kind, include_extras=True)
        properties = {item.name: self._property(kind, item, hints[item.name]) for item in fields(kind)}
        return {"description": _described(kind), "type": "object", "properties": properties, **self._rules(kind)}

    def _property(self, kind: type, item: Field[Any], hint: Any) -> JsonObject:
        if (kind, item.name) == (Message, "content"):
            parts = {"type": "array", "items": {"$ref": "#/$defs/ContentPart"}}
            return {"anyOf": [{"type": "string"}, parts, {"type": "null"}]}
        return self.schema(hint)

    def _name(self, kind: type) -> str:
        return kind.__name__

    @abstractmethod
    def _rules(self, kind: type) -> JsonObject:
        """Returns what holds for all fields together."""


class _Requests(_Side):
    """What callers send: unknown fields are refused, and what has a default may be left out."""

    def _name(self, kind: type) -> str:
        return f"{kind.__name__}Input" if kind in (Message, ToolCall) else kind.__name__

    def _property(self, kind: type, item: Field[Any], hint: Any) -> JsonObject:
        if kind is Message and item.name in STORE_GIVEN:
            return {"readOnly": True, "description": "Given by the store, and ignored here."}
        schema = super()._property(kind, item, hint)
        if item.default is not MISSING and item.default is not None and item.default != ():
            schema["default"] = item.default
        return schema

    def _rules(self, kind: type) -> JsonObject:
        required = [
            field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING
        ]
        return {"required": required, "additionalProperties": False}


class _Answers(_Side):
    """What callers get: every field is there, or those that are set; a newer worker may add some."""

    def _property(self, kind: type, item: Field[Any], hint: Any) -> JsonObject:
        schema = super()._property(kind, item, hint)
        if kind not in _SPARSE or item.name in _SPARSE[kind]:
            return schema
        options = [option for option in schema.get("anyOf", [schema]) if option != {"type": "null"}]
        return dict(options[0])

    def _rules(self, kind: type) -> JsonObject:
        return {"required": list(_SPARSE.get(kind, [field.name for field in fields(kind)]))}


def _described(kind: type) -> str:
    """The docstring of a type as one line; which exceptions Python raises is nothing to callers."""
    return " ".join((inspect.getdoc(kind) or "").split()).partition(" Raises ")[0]


def _tool_call(rules: JsonObject) -> JsonObject:
    """A tool call in its chat-completions form, which is not how the type holds it."""
    function = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "arguments": {"type": "string"}},
        "required": ["name", "arguments"],
        **rules,
    }
    return {
        "description": _described(ToolCall),
        "type": "object",
        "properties": {"id": {"type": "string", "minLength": 1}, "type": {"const": "function"}, "function": function},
        "required": ["id", "type", "function"],
        **rules,
    }


def _error_types() -> JsonObject:
    kinds = sorted({kind.type: kind.retryable for kind in kinds_of_faults() if kind is not MemoryFault}.items())
    return {
        "FinalErrorType": {"type": "string", "enum": [name for name, retryable in kinds if not retryable]},
        "RetriedErrorType": {"type": "string", "enum": [name for name, retryable in kinds if retryable]},
    }
