"""The one parser of durations: `150ms`, `20s`, `5m`, `72h`, `7d`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler, PlainSerializer, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

_FORM: Final = re.compile(r"([0-9]{1,15})(ms|s|m|h|d)", re.ASCII)
_LOOSE: Final = re.compile(
    r"([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*"
    r"(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)(?![a-z])\s*"
)
_LONGEST_LOOSE: Final = 40
_UNITS: Final = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}
LONGEST: Final = timedelta(days=36_500)
"""A hundred years: what is longer is a slip, and would not fit a store's clock."""

_EXAMPLES: Final = "write a whole number and a unit: 150ms, 20s, 5m, 72h, 7d"
_MILLISECOND: Final = timedelta(milliseconds=1)


def parse_duration(value: object) -> timedelta:
    """Returns the duration that `value` spells.

    value: text of a whole number and one of ms, s, m, h, d; or a timedelta, for declarations made in code. Raises
    ValueError for another form, a bare number, nothing, zero, or more than a hundred years.
    """
    duration = value if isinstance(value, timedelta) else _spelt(value)
    if duration < _MILLISECOND:
        raise ValueError("must be longer than zero")
    if duration > LONGEST:
        raise ValueError(f"must be at most {LONGEST.days}d")
    return duration


def _spelt(value: object) -> timedelta:
    match = _FORM.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        try:
            return int(match[1]) * _UNITS[match[2]]
        except OverflowError:
            return timedelta.max
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        raise ValueError(f"is a number without a unit; {_EXAMPLES}")  # noqa: TRY004 - what pydantic collects
    near = _near(value) if isinstance(value, str) else None
    raise ValueError(f"is not a duration; {_EXAMPLES}{f'; did you mean {near!r}?' if near else ''}")


def _near(text: str) -> str | None:
    """Returns how to write a duration that is spelt as elsewhere: `72H`, `1h30m`, `1.5h`, `30 sec`, `2 weeks`."""
    spelt = text.lower()
    if _FORM.fullmatch(spelt) is not None:
        return spelt
    if len(spelt) > _LONGEST_LOOSE or _LOOSE.sub("", spelt).strip():
        return None
    total = timedelta()
    for count, word in _LOOSE.findall(spelt):
        days = 7 if word.startswith("w") else 1
        total += float(count) * days * _UNITS["ms" if word.startswith(("ms", "mil")) else "d" if days > 1 else word[0]]
    return format_duration(total) if _MILLISECOND <= total <= LONGEST else None


def format_duration(duration: timedelta) -> str:
    """Returns the shortest text that parse_duration reads back as `duration`, to the millisecond."""
    milliseconds = to_ms(duration)
    for unit in ("d", "h", "m", "s"):
        count, rest = divmod(milliseconds, to_ms(_UNITS[unit]))
        if not rest:
            return f"{count}{unit}"
    return f"{milliseconds}ms"


def to_ms(duration: timedelta) -> int:
    """Returns whole milliseconds."""
    return duration // _MILLISECOND


Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    PlainSerializer(format_duration, return_type=str, when_used="json"),
    WithJsonSchema(
        {"type": "string", "title": "duration", "pattern": "^[0-9]+(ms|s|m|h|d)$", "examples": ["30s", "24h"]}
    ),
]
"""A field that holds a duration."""


@dataclass(frozen=True, slots=True)
class Within:
    """The bounds of a field that holds a duration, both included: `Annotated[Duration, Within("1s", "1h")]`."""

    shortest: str
    longest: str

    def checked(self, value: timedelta) -> timedelta:
        """Returns `value`. Raises ValueError if it is out of bounds."""
        if not parse_duration(self.shortest) <= value <= parse_duration(self.longest):
            raise ValueError(f"must be from {self.shortest} to {self.longest}")
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """See pydantic: the value is checked after it was read."""
        return core_schema.no_info_after_validator_function(self.checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """See pydantic: JSON Schema cannot compare durations, so the bounds stand in the title."""
        return {**handler(schema), "title": f"duration from {self.shortest} to {self.longest}"}
