"""The door for values from outside: what JSON, Redis and tokenizers cannot carry is replaced or refused here, once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class InvalidValue(ValueError):
    """A value that the product cannot carry.

    `path` says where it stands, e.g. `messages[2].metadata.price`; the text never repeats the value.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem


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


def clean_json(value: object, path: str) -> Json:
    """Returns `value` as plain JSON data, strings cleaned.

    Raises InvalidValue where JSON would lose or bend it (bytes, sets, NaN, other classes).
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidValue(path, f"{value!r} is not a JSON number; send a finite number or null")
        return value
    if isinstance(value, Mapping):
        cleaned: dict[str, Json] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidValue(path, f"a key is a {type(key).__name__}; JSON keys are strings")
            cleaned[clean_text(key)] = clean_json(item, f"{path}.{key}")
        return cleaned
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [clean_json(item, f"{path}[{index}]") for index, item in enumerate(value)]
    hint = {
        "bytes": "decode it or send base64 text",
        "set": "send a sorted list",
        "Decimal": "send it as text",
    }
    advice = hint.get(type(value).__name__, "send text, numbers, booleans, null, lists or objects")
    raise InvalidValue(path, f"a {type(value).__name__} is not JSON data; {advice}")


def required_text(value: object, path: str) -> str:
    """Returns `value` cleaned if it is text, else raises InvalidValue."""
    if not isinstance(value, str):
        raise InvalidValue(path, f"must be text, not {type(value).__name__}")
    return clean_text(value)


def optional_text(value: object, path: str) -> str | None:
    """Returns None, or `value` cleaned if it is text, else raises InvalidValue."""
    return None if value is None else required_text(value, path)


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Returns `; did you mean 'x'?` for the nearest of `known`, or nothing."""
    import difflib  # noqa: PLC0415 - only on the way to an error; workflow code pays no import for it

    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""
