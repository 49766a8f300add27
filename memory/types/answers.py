"""Results as JSON and back: what crosses the Temporal border, and what commands print."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final, Self, TypeVar, cast, get_args, get_origin, get_type_hints

from durable_memory.memory.types.clean import Json
from durable_memory.memory.types.message import Message

_Result = TypeVar("_Result")
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""Most fields of most results."""


class JsonForm:
    """A value that gives its JSON form itself."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Json]:
        """Returns the JSON form."""
        data: dict[str, Json] = to_json(self)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Reads the JSON form; fields that a newer worker adds are ignored."""
        return from_json(cls, data)


def to_json(value: object) -> Any:
    """Returns a result as JSON data: dataclasses as objects, tuples as lists, times as ISO 8601."""
    kind = value.__class__
    if kind in _PLAIN:
        return value
    if isinstance(value, Message):
        return value.to_dict()
    if is_dataclass(kind):
        return {name: to_json(getattr(value, name)) for name in _names(kind)}
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_json(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """Returns the names of a result's fields; every answer asks for them."""
    return tuple(item.name for item in fields(kind))


def from_json(kind: type[_Result], data: Mapping[str, Any]) -> _Result:
    """Reads a result as a worker wrote it, by the types of its fields.

    Fields that a newer worker adds are ignored; those that an older one did not have get their defaults.
    """
    return kind(**{name: read(data[name]) for name, read in _readers(cast("Any", kind)).items() if name in data})


@cache
def _readers(kind: Any) -> dict[str, Callable[[Any], Any]]:
    return {name: _reader(hint) for name, hint in get_type_hints(kind).items()}


def _reader(hint: Any) -> Callable[[Any], Any]:
    """Returns what makes a value of this type from its JSON form."""
    options = get_args(hint)
    if type(None) in options:
        read = _reader(next(option for option in options if option is not type(None)))
        return lambda value: None if value is None else read(value)
    if get_origin(hint) is tuple:
        read = _reader(options[0])
        return lambda value: tuple(map(read, value))
    if hint is Message:
        return Message.from_answer
    if hint is datetime:
        return datetime.fromisoformat
    if isinstance(hint, type) and is_dataclass(hint):
        return lambda value: from_json(hint, value)
    return lambda value: value
