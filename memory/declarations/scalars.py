"""Values of a YAML tree: `${ENV}` is filled in per scalar, then plain scalars become numbers, booleans or null.

Interpolation comes after parsing, so what a variable holds can never add fields. The meaning of plain scalars is that
of YAML 1.2: `yes` and `no` are text, and so is `1:30`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from durable_memory.memory.declaration_faults import Finding, Location
from durable_memory.memory.declarations.yaml_source import Fields, Items, Node, Scalar

_REFERENCE: Final = re.compile(
    r"\$(?:(?P<escaped>\$\{)"  # $${ is the text ${
    r"|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>(?:[^}$]|\$(?!\{))*))?\}"
    r"|\{)"  # anything else that begins like a reference
)
_BARE: Final = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_INT: Final = re.compile(r"[-+]?[0-9]{1,100}", re.ASCII)
_FLOAT: Final = re.compile(r"[-+]?([0-9]{1,18}\.[0-9]{0,18}|\.[0-9]{1,18})([eE][-+]?[0-9]{1,2})?", re.ASCII)
_NULLS: Final = frozenset({"null", "Null", "NULL", "~"})
_BOOLEANS: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
NULLABLE: Final = frozenset({("persistence", "ttl")})
"""Where null means something. Elsewhere a field without a value is a slip."""


@dataclass(slots=True)
class Reading:
    """A document as plain data, and what was wrong with its values.

    origins: of values from the environment, what a fault of theirs has to say of that.
    """

    data: Any = None
    problems: list[Finding] = field(default_factory=list)
    origins: dict[Location, str] = field(default_factory=dict)


def read_values(root: Node, environment: Mapping[str, str]) -> Reading:
    """Returns the data of a document.

    Values that could not be read are None in the data and stand in `problems`.
    """
    reading = Reading()
    reading.data = _data(root, (), environment, reading)
    return reading


def _data(node: Node, location: Location, environment: Mapping[str, str], reading: Reading) -> Any:
    if isinstance(node, Fields):
        return {
            name: _data(entry.value, (*location, name), environment, reading) for name, entry in node.entries.items()
        }
    if isinstance(node, Items):
        return [_data(value, (*location, str(index)), environment, reading) for index, value in enumerate(node.values)]
    try:
        value = _scalar(node, environment)
    except _Unreadable as error:
        reading.problems.append((location, str(error)))
        return None
    if value is None and location not in NULLABLE:
        reading.problems.append((location, "has no value; leave the field out for its default"))
    if "$" in node.text:
        reading.origins[location] = _origin(node.text)
    return value


def _origin(text: str) -> str:
    names = dict.fromkeys(match["name"] for match in _REFERENCE.finditer(text) if match["name"])
    if names:
        return f"; it comes from the environment: {', '.join(names)}"
    return "; a variable of the environment is written ${NAME}" if _BARE.fullmatch(text) else ""


class _Unreadable(ValueError):
    """A scalar whose text cannot be filled in."""


def _scalar(node: Scalar, environment: Mapping[str, str]) -> str | int | float | bool | None:
    text, filled = _interpolated(node.text, environment)
    if not node.plain:
        return text
    if not text and not filled:
        raise _Unreadable("has no value; leave the field out for its default, or write null where that is allowed")
    return _meaning(text)


def _meaning(text: str) -> str | int | float | bool | None:
    """Returns what a plain scalar stands for."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def _interpolated(text: str, environment: Mapping[str, str]) -> tuple[str, bool]:
    """Returns the text with its variables filled in, and whether there were any."""
    if "$" not in text:
        return text, False
    filled = False

    def fill(match: re.Match[str]) -> str:
        nonlocal filled
        if match["escaped"]:
            return "${"
        name, default = match["name"], match["default"]
        if name is None:
            raise _Unreadable("has a '${' that is no ${NAME} or ${NAME:-default}; write $${ for the text itself")
        filled = True
        value = environment.get(name, "")
        if value or (name in environment and default is None):
            return value
        if default is None:
            raise _Unreadable(f"needs the environment variable {name}, which is not set; ${{{name}:-default}} has one")
        return default

    return _REFERENCE.sub(fill, text), filled
