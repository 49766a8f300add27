"""What labels a value in a structure: the nearest key above it that says what it is."""

from __future__ import annotations

import re
from typing import Final

_WORD_SEAM: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_SAYS_NOTHING: Final = frozenset(
    {
        *("value", "values", "number", "numbers", "text", "content", "raw", "data", "item", "items", "list", "current"),
        *("home", "work", "office", "private", "business", "main", "primary", "secondary", "other", "default"),
    }
)
"""Keys of all kinds of values: under them the key above tells, as in `{"phones": [{"type": "home", "value": "…"}]}`."""


def label_of(key: str, above: str) -> str:
    """Returns what labels the values under `key`, itself under values that `above` labels."""
    return above if key.isdigit() or key.lower() in _SAYS_NOTHING else key


def as_label(name: str) -> str:
    """Returns the name of a field as it would stand before its value: `phoneNumber` as `phone_Number: `."""
    return f"{_WORD_SEAM.sub('_', name)}: "
