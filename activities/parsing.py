"""Reads requests strictly: a field that is misspelt, missing or of a wrong type is named, its value never repeated."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Final, TypeVar, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from durable_memory.activities import wire
from durable_memory.memory.errors import MemoryContractTooNew, MemoryInvalid
from durable_memory.memory.types import did_you_mean, field_path

_Request = TypeVar("_Request")
_NAMED_FAULTS: Final = 10
"""A list may be wrong at each of its places, and Temporal refuses failures that are too long to be carried."""

_PHRASES: Final = {
    "missing": "is missing",
    "dict_type": "must be an object",
    "list_type": "must be a list",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
}
"""Pydantic's errors in the words of JSON: who calls an activity by its name may know no Python."""

_STRICT = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


def parse(kind: type[_Request], request: object) -> _Request:
    """Returns the request. Raises MemoryInvalid, or MemoryContractTooNew for a newer contract than this worker's."""
    if not isinstance(request, dict):
        raise MemoryInvalid(f"request: must be an object, not {type(request).__name__}")
    contract = request.get("contract", wire.CONTRACT)
    if isinstance(contract, int) and contract < 1:
        raise MemoryInvalid(f"contract: {contract} is no version; leave it out, or send {wire.CONTRACT}")
    if isinstance(contract, int) and contract > wire.CONTRACT:
        raise MemoryContractTooNew(
            f"contract: {contract} is newer than {wire.CONTRACT}, which this worker speaks; a newer worker will answer"
        )
    try:
        checked = _model(cast("Any", kind)).model_validate(request)
    except ValidationError as error:
        faults = error.errors(include_input=False)
        named = [_sentence(kind, item["loc"], item["type"], item["msg"]) for item in faults[:_NAMED_FAULTS]]
        more = [f"and {len(faults) - _NAMED_FAULTS:,} more"] if len(faults) > _NAMED_FAULTS else []
        raise MemoryInvalid("; ".join([*named, *more])) from None
    return _built(kind, checked)


@cache
def _model(kind: Any) -> type[BaseModel]:
    """Returns the strict reader of a request type; pydantic reads a dataclass itself strictly from JSON text only."""
    hints = _hints(kind)
    readers: dict[str, Any] = {}
    for item in fields(kind):
        hint = hints[item.name]
        readers[item.name] = (
            _model(cast("Any", hint)) if is_dataclass(hint) else hint,
            ... if item.default is MISSING else item.default,
        )
    return create_model(kind.__name__, __config__=_STRICT, **readers)


def _built(kind: type[_Request], checked: BaseModel) -> _Request:
    values = dict(vars(checked))
    for name, inner in _nested(cast("Any", kind)).items():
        values[name] = _built(inner, values[name])
    return kind(**values)


@cache
def _nested(kind: Any) -> dict[str, Any]:
    """Returns the fields of a request that are objects with fields of their own."""
    return {name: hint for name, hint in _hints(kind).items() if is_dataclass(hint)}


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """Returns the types of a request's fields. Evaluating them takes longer than the rest of a parse."""
    return get_type_hints(kind)


def _sentence(kind: Any, location: tuple[int | str, ...], fault: str, message: str) -> str:
    path = ""
    for part in location:
        path = f"{path}[{part}]" if isinstance(part, int) else field_path(path, part)
    path = path.removeprefix(".")
    if fault == "extra_forbidden":
        return f"{path}: is not a field of this request{did_you_mean(str(location[-1]), _known(kind, location[:-1]))}"
    return f"{path}: {_PHRASES.get(fault) or message[:1].lower() + message[1:]}"


def _known(kind: Any, location: tuple[int | str, ...]) -> list[str]:
    """The fields of the part of a request that `location` leads to."""
    for part in location:
        kind = _hints(kind)[str(part)]
    return [item.name for item in fields(kind)]
