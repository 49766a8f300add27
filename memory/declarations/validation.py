"""From data to a declaration: what pydantic finds, said in our words, with what was probably meant."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from pydantic import BaseModel, ValidationError

from durable_memory.memory.declaration_faults import Finding, Location
from durable_memory.memory.declarations.agent import AgentResource
from durable_memory.memory.declarations.declaration import CROSS_FIELD
from durable_memory.memory.declarations.not_supported import Kind, refused_field
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.types import did_you_mean

Resource: TypeAlias = MemoryResource | AgentResource
KINDS: Final[Mapping[Kind, type[Resource]]] = {"memory": MemoryResource, "agent": AgentResource}

NO_FIELD: Final = "is not a field here"
"""How the problem of a field begins that does not exist."""

_QUOTED: Final = re.compile(r"'([^']*)'")


class DeclarationInvalid(ValueError):
    """Data that is no valid document. `problems` holds every one that was found."""

    def __init__(self, problems: Sequence[Finding]) -> None:
        super().__init__("; ".join(f"{'.'.join(location)}: {problem}" for location, problem in problems))
        self.problems = tuple(problems)


def declare(data: Mapping[str, Any]) -> Resource:
    """Returns the declaration that `data` holds. Raises DeclarationInvalid with all problems that were found."""
    kind = data.get("resource")
    if not isinstance(kind, str) or kind not in KINDS:
        raise DeclarationInvalid([(("resource",), _kind_problem(data, kind))])
    model = KINDS[kind]
    try:
        return model.model_validate(data)
    except ValidationError as error:
        found = [problem for item in error.errors() for problem in _problems(kind, model, item)]
    raise DeclarationInvalid(found)


def _kind_problem(data: Mapping[str, Any], kind: object) -> str:
    known = " or ".join(KINDS)
    if "resource" not in data:
        names: Iterable[object] = data  # of a declaration in code, which anything may be
        meant = next((name for name in names if isinstance(name, str) and did_you_mean(name, ("resource",))), None)
        instead = f", and not with {meant!r}" if meant else ""
        return f"is missing; a document begins with resource: {known}{instead}"
    near = did_you_mean(kind, tuple(KINDS)) if isinstance(kind, str) else ""
    return f"must be {known}{near}"


def _problems(kind: Kind, model: type[BaseModel], item: Any) -> Iterator[Finding]:
    if item["type"] == CROSS_FIELD:
        for path, problem in item["ctx"]["problems"]:
            yield tuple(path.split(".")), problem
        return
    # Where a value may have one of several forms, pydantic names that in brackets; an unknown field may look so, too.
    names, unknown = [str(part) for part in item["loc"]], item["type"] == "extra_forbidden"
    forms = [name for name in (names[:-1] if unknown else names) if name.startswith("<")]
    location = tuple(name for name in names if name not in forms)
    path = ".".join(location)
    if unknown:
        yield location, refused_field(kind, path) or _unknown(model, location)
        return
    short = _in_full(model, location, item["input"]) if item["type"] == "model_type" else ""
    yield location, problem_text(item) + short


def _in_full(model: type[BaseModel], location: Location, value: object) -> str:
    """Says how a part is written for which only its type was given, or that it is on or off."""
    part = _level_of(model, location)
    if isinstance(value, bool) and "enabled" in part.model_fields:
        return f"; write {{enabled: {str(value).lower()}}}"
    kinds = typing.get_args(typing.get_type_hints(part).get("type"))
    return f"; write {{type: {value}}}" if isinstance(value, str) and value in kinds else ""


def _unknown(model: type[BaseModel], location: Location) -> str:
    level, name = _level_of(model, location[:-1]), location[-1]
    near = did_you_mean(name, tuple(level.model_fields))
    return f"{NO_FIELD}{_elsewhere(model, level, name) or near}"


def _level_of(model: type[BaseModel], location: Location) -> type[BaseModel]:
    """Returns the part that stands there."""
    level = model
    for name in location:
        level = _parts_of(level).get(name, level)
    return level


def _elsewhere(model: type[BaseModel], level: type[BaseModel], name: str) -> str:
    """Says where the field belongs that does not at this level: under one of its parts, or else of the document."""
    levels = [*_parts_of(level).items(), ("", model), *_parts_of(model).items()]
    for place, part in levels:
        if name in part.model_fields:
            return f"; it belongs under {place}" if place else "; it belongs to the top level"
    return ""


def _parts_of(model: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """The fields that are models themselves, or lists of models."""
    hints = typing.get_type_hints(model)
    parts = {name: _model_in(hints[name]) for name in model.model_fields}
    return {name: part for name, part in parts.items() if part is not None}


def _model_in(hint: Any) -> type[BaseModel] | None:
    """Returns the model that a type hint is, or that stands somewhere in it."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return hint
    return next((found for inner in typing.get_args(hint) if (found := _model_in(inner)) is not None), None)


def problem_text(item: Any) -> str:
    """Returns one of pydantic's errors in our words, without the value."""
    context = item.get("ctx", {})
    phrase = _PHRASES.get(item["type"])
    if phrase is not None:
        bounds = {
            name: int(bound) if bound == int(bound) else bound for name, bound in context.items() if name in _BOUNDS
        }
        return phrase.format(**context | bounds) + _hint(item["type"], item["input"], context)
    if item["type"] == "literal_error":
        choices = _QUOTED.findall(context["expected"])
        near = did_you_mean(item["input"], choices) if isinstance(item["input"], str) else ""
        return f"must be {_either(choices)}{near}"
    if item["type"] == "string_type":
        is_number = isinstance(item["input"], (int, float))
        return "must be text; put it in quotes" if is_number else "must be text"
    return str(context["error"]) if item["type"] == "value_error" else str(item["msg"])


def _hint(kind: str, value: object, context: Mapping[str, Any]) -> str:
    """Returns how to write a value that is meant well, without repeating it."""
    if kind in {"int_type", "float_type", "bool_type"} and isinstance(value, str):
        plain = value.strip().lower()
        if plain in {"true", "false"} if kind == "bool_type" else _NUMBER.fullmatch(plain):
            return "; leave the quotes out"
        if kind == "bool_type":
            return next((f"; did you mean {word!r}?" for word, spelt in _SWITCHES.items() if plain in spelt), "")
        if plain.endswith("%"):
            return "; 80 % is written 0.8"
        return "; write it in digits, such as 4000" if kind == "int_type" and plain[:1].isdigit() else ""
    if kind in {"less_than", "less_than_equal"} and isinstance(value, (int, float)):
        bound = context.get("le", context.get("lt"))
        return "; it is a share, and 80 % is written 0.8" if isinstance(bound, float) and bound == 1 else ""
    return ""


_BOUNDS: Final = ("gt", "ge", "lt", "le")
_NUMBER: Final = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?", re.ASCII)
_SWITCHES: Final = {"true": ("yes", "y", "on"), "false": ("no", "n", "off")}

_PHRASES: Final = {
    "missing": "is missing",
    "bool_type": "must be true or false",
    "extra_forbidden": "is not known",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "float_type": "must be a number",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "too_long": "must have at most {max_length} items",
    "finite_number": "must be a number",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "model_type": "must be a mapping of fields",
    "dict_type": "must be a mapping of names",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
}
"""What we say for pydantic's error types."""


def _either(choices: Sequence[str]) -> str:
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"
