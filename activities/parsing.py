"""Reads requests strictly: a field that is misspelt, missing or of a wrong type is named, its value never repeated."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from durable_memory.activities import wire
from durable_memory.memory.errors import MemoryContractTooNew, MemoryInvalid
from durable_memory.memory.types import did_you_mean

_Request = TypeVar("_Request")


def parse(kind: type[_Request], request: object) -> _Request:
    """Returns the request. Raises MemoryInvalid, or MemoryContractTooNew for a newer contract than this worker's."""
    if not isinstance(request, dict):
        raise MemoryInvalid(f"request: must be an object, not {type(request).__name__}")
    contract = request.get("contract", wire.CONTRACT)
    if isinstance(contract, int) and contract > wire.CONTRACT:
        raise MemoryContractTooNew(
            f"contract: {contract} is newer than {wire.CONTRACT}, which this worker speaks; a newer worker will answer"
        )
    try:
        return _adapter(kind).validate_python(request)
    except ValidationError as error:
        faults = [_sentence(kind, item["loc"], item["type"], item["msg"]) for item in error.errors(include_input=False)]
        raise MemoryInvalid("; ".join(faults)) from None


@cache
def _adapter(kind: type[_Request]) -> TypeAdapter[_Request]:
    return TypeAdapter(kind)


def _sentence(kind: type, location: tuple[int | str, ...], fault: str, message: str) -> str:
    path = ".".join(str(part) for part in location)
    if fault == "unexpected_keyword_argument":
        known = _known_fields(kind, location[:-1])
        return f"{path}: is not a field of this request{did_you_mean(str(location[-1]), known)}"
    if fault == "missing":
        return f"{path}: is missing"
    return f"{path}: {message[:1].lower()}{message[1:]}"


def _known_fields(kind: Any, location: tuple[int | str, ...]) -> list[str]:
    for part in location:
        kind = get_type_hints(kind).get(str(part)) if is_dataclass(kind) else None
    return [item.name for item in fields(kind)] if is_dataclass(kind) else []
