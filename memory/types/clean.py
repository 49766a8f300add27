"""Cleans values from outside: what JSON, Redis and tokenizers cannot carry is replaced or refused in this one place."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

MAX_DEPTH: Final = 100
"""Levels of nesting: what is deeper, or holds itself, would be stored and never be read back."""

_MAX_INT_BITS: Final = 1024
"""Most JSON readers change whole numbers beyond the range of floats, and Python refuses to write the longest."""

_LONGEST_NAME: Final = 64
_LONGEST_PATH: Final = 100
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class InvalidValue(ValueError):
    """A value that the product cannot carry.

    `path` says where it stands, e.g. `messages[2].metadata.price`; the text never repeats the value.
    """

    def __init__(self, path: str, problem: str) -> None:
        if len(path) > _LONGEST_PATH:
            path = f"{path[:_LONGEST_PATH]}..."
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles with both parts: an exception would hand its constructor the text that it made of them."""
        return type(self), (self.path, self.problem), vars(self)


def clean_text(text: str) -> str:
    """Returns `text` with lone surrogates and NUL replaced by U+FFFD.

    Neither survives every store, encoder and tokenizer.
    """
    if "\0" in text:
        text = text.replace("\0", _REPLACEMENT)
    # A str of ASCII or Latin-1 has no surrogates; encode is the fastest check for the rest.
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            # A valid pair (from UTF-16 sources) is joined to its character, what is left alone is replaced.
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_json(value: object, path: str, depth: int = MAX_DEPTH) -> Json:
    """Returns `value` as plain JSON data, strings cleaned.

    Raises InvalidValue for values that JSON would lose or change (bytes, sets, NaN, other classes), and for more than
    `depth` levels.
    """
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, (bool, int, float)):
        return _number(value, path)
    if depth == 0:
        raise InvalidValue(path, f"is nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, Mapping):
        return _object(value, path, depth - 1)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [clean_json(item, f"{path}[{index}]", depth - 1) for index, item in enumerate(value)]
    hint = {
        "bytes": "decode it or send base64 text",
        "set": "send a sorted list",
        "Decimal": "send it as text",
    }
    advice = hint.get(type(value).__name__, "send text, numbers, booleans, null, lists or objects")
    raise InvalidValue(path, f"a {type(value).__name__} is not JSON data; {advice}")


def _number(value: float | None, path: str) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > _MAX_INT_BITS:
            raise InvalidValue(path, "is too large a number for JSON; send it as text")
        return int(value)
    if not math.isfinite(value):
        raise InvalidValue(path, f"{value!r} is not a JSON number; send a finite number or null")
    return value


def _object(value: Mapping[Any, object], path: str, depth: int) -> Json:
    cleaned: dict[str, Json] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise InvalidValue(path, f"a key is a {type(key).__name__}; JSON keys are strings")
        cleaned[clean_text(key)] = clean_json(item, field_path(path, key), depth)
    if len(cleaned) < len(value):
        raise InvalidValue(path, "has keys that differ only in NUL or halves of surrogate pairs")
    return cleaned


def field_path(path: str, name: object) -> str:
    """Returns the path of a field under `path`. A name that is long or not printable is described, not repeated."""
    text = str(name)
    fits = len(text) <= _LONGEST_NAME and text.isprintable()
    return f"{path}.{text}" if fits else f"{path}.(a name of {len(text)} characters)"


def refuse_unknown(data: Mapping[str, Any], known: Sequence[str], path: str, what: str) -> None:
    """Raises InvalidValue for the first field of `data` that is not `known`. what: names the object, for the error."""
    for name in data:
        if not isinstance(name, str):
            raise InvalidValue(path, f"a key is a {type(name).__name__}; JSON keys are strings")
        if name not in known:
            raise InvalidValue(field_path(path, name), f"is not a field of {what}{did_you_mean(name, known)}")


def refuse_broken_text(value: object, path: str) -> None:
    """Raises InvalidValue for text in JSON data that `clean_text` would change: two keys could become one."""
    if isinstance(value, str):
        if clean_text(value) != value:
            raise InvalidValue(path, "has NUL or half of a surrogate pair; it is no valid text")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            refuse_broken_text(key, path)
            refuse_broken_text(item, field_path(path, key))
    elif isinstance(value, Sequence):
        for index, item in enumerate(value):
            refuse_broken_text(item, f"{path}[{index}]")


def checked_texts(values: object, path: str = "ids", what: str = "message ids") -> tuple[str, ...]:
    """Returns a list of texts. Raises InvalidValue for a single text, which would be read as a list of characters."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise InvalidValue(path, f"must be a list of {what}, not {type(values).__name__}")
    return tuple(required_text(one, f"{path}[{index}]") for index, one in enumerate(values))


def required_text(value: object, path: str) -> str:
    """Returns `value` cleaned if it is text, else raises InvalidValue."""
    if not isinstance(value, str):
        raise InvalidValue(path, f"must be text, not {type(value).__name__}")
    return clean_text(value)


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Returns `; did you mean 'x'?` for the nearest of `known`, or nothing."""
    import difflib  # noqa: PLC0415 - only on the way to an error; workflow code pays no import for it

    lowered = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    return f"; did you mean {lowered[near[0]]!r}?" if near else ""
