"""The one rule for keys, whether given literally or rendered from a template."""

from __future__ import annotations

import unicodedata
from typing import Final

from durable_memory.memory.errors import MemoryKeyInvalid

MAX_KEY_LENGTH: Final = 256
# The canonical decomposition of one character has at most four, so a longer text cannot shrink to a valid key.
_MAX_BEFORE_NFC: Final = 4 * MAX_KEY_LENGTH


def checked_key(key: object, resource: str) -> str:
    """Returns `key` in NFC if it is a valid key: 1 to 256 characters, no control characters, no surrounding space.

    Any other character is fine: the store encodes keys, so `*`, `:` or `{}` in them are data. key: what the caller
    gave, or what a template rendered. resource: id of the memory resource, for the error's text. Raises
    MemoryKeyInvalid, whose text never repeats the key.
    """
    problem, normal = _length_problem(key)
    problem = problem or _character_problem(normal)
    if problem is not None:
        raise MemoryKeyInvalid(f"memory {resource!r}: the key {problem}")
    return normal


def key_problem(key: str) -> str | None:
    """Returns what is wrong with `key`, or None."""
    problem, normal = _length_problem(key)
    return problem or _character_problem(normal)


def _length_problem(key: object) -> tuple[str | None, str]:
    """Returns what is wrong with type and length, and the key in NFC."""
    if not isinstance(key, str):
        return f"must be text, not {type(key).__name__}", ""
    if not key:
        return "is empty", ""
    normal = key if len(key) > _MAX_BEFORE_NFC else unicodedata.normalize("NFC", key)
    if len(normal) > MAX_KEY_LENGTH:
        return f"has {len(normal)} characters; at most {MAX_KEY_LENGTH} are allowed", ""
    return None, normal


def _character_problem(key: str) -> str | None:
    # What is printable has none of both.
    for index, character in () if key.isprintable() else enumerate(key):
        category = unicodedata.category(character)
        if category == "Cc":
            return f"has the control character U+{ord(character):04X} at position {index + 1}"
        if category == "Cs":
            return f"has half of a surrogate pair at position {index + 1}; it is no valid text"
    return "begins or ends with space" if key != key.strip() else None
