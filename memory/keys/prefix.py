"""What a key prefix means: whole segments, so that `user:al` is no prefix of `user:alice`."""

from __future__ import annotations

import unicodedata
from typing import Final

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.keys.rule import MAX_KEY_LENGTH
from durable_memory.memory.types import clean_text

SEPARATORS: Final = (":", "/")
"""What ends a segment of a key."""


def checked_prefix(prefix: object) -> str:
    """Returns a prefix as keys are kept, in NFC; the empty one means all keys. Raises MemoryInvalid."""
    if not isinstance(prefix, str):
        raise MemoryInvalid(f"prefix: must be text, not {type(prefix).__name__}")
    normal = unicodedata.normalize("NFC", prefix)
    if len(normal) > MAX_KEY_LENGTH:
        raise MemoryInvalid(f"prefix: has {len(normal)} characters; a key has at most {MAX_KEY_LENGTH}")
    if clean_text(normal) != normal:
        raise MemoryInvalid("prefix: has NUL or half of a surrogate pair; it is no valid text")
    return normal


def has_prefix(key: str, prefix: str) -> bool:
    """Tells whether a key is this prefix, or goes on behind it with a segment of its own."""
    if not prefix or key == prefix:
        return True
    ends = prefix if prefix.endswith(SEPARATORS) else tuple(f"{prefix}{separator}" for separator in SEPARATORS)
    return key.startswith(ends)


def prefix_ranges(prefix: str) -> list[tuple[bytes, bytes | None]]:
    """Returns the ranges of encoded keys, in order and each without its end, that hold exactly those with the prefix.

    An end of None is the end of all keys.
    """
    if not prefix:
        return [(b"", None)]
    start = prefix.encode()
    if prefix.endswith(SEPARATORS):
        return [(start, _after(start))]
    below = sorted(start + separator.encode() for separator in SEPARATORS)
    # No key lies between a text and the same with the smallest byte behind it.
    return [(start, start + b"\0"), *((low, _after(low)) for low in below)]


def _after(start: bytes) -> bytes:
    """The first text behind all that begin with this one, which ends with a separator."""
    return start[:-1] + bytes([start[-1] + 1])
