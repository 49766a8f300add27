"""What labels a value in a structure: the nearest key above it that says what it is, or the name beside it.

Forms, headers and lists of contacts often hold pairs, as in `{"name": "ssn", "value": "536228731"}`. A number in a pair
is not taken for what it is named: charts hold such pairs too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final, TypeAlias

Labels: TypeAlias = tuple[str, ...]
"""A value is looked at behind each of them."""

_WORD_SEAM: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_SAYS_NOTHING: Final = frozenset(
    {
        *("value", "values", "number", "numbers", "string", "text", "content", "raw", "data"),
        *("item", "items", "list", "current"),
        *("home", "work", "office", "private", "business", "main", "primary", "secondary", "other", "default"),
    }
)
"""Keys of all kinds of values: under them the key above tells, as in `{"phones": [{"type": "home", "value": "…"}]}`."""


_VALUES: Final = frozenset({"value", "values", "val"})

_NAMES: Final = frozenset({"name", "key", "label", "field", "header", "title", "type", "kind", "system", "id"})
"""Keys that say beside a `value` what it is."""

_LONGEST_NAME: Final = 60
_MOST_NAMES: Final = 3
"""Each costs as much as a text of its own."""


def labels_of(key: str, above: Labels, names: Labels = ()) -> Labels:
    """Returns what labels the values under `key`, itself under values that `above` labels.

    names: what its object says of its value.
    """
    labels = above if _says_nothing(key) else (key,)
    return (*labels, *names) if key.lower() in _VALUES else labels


def is_name(key: str) -> bool:
    """Tells whether the text under this key may name a value beside it."""
    return key.lower() in _NAMES


def names_among(fields: Iterable[tuple[str, object]]) -> Labels:
    """Returns what the fields of one object say of its value."""
    names = (item for key, item in fields if is_name(key) and isinstance(item, str) and len(item) <= _LONGEST_NAME)
    return tuple(islice((name for name in names if not _says_nothing(name)), _MOST_NAMES))


def _says_nothing(name: str) -> bool:
    return name.isdigit() or name.lower() in _SAYS_NOTHING


def as_label(name: str) -> str:
    """Returns the name of a field as it would stand before its value: `phoneNumber` as `phone_Number: `."""
    return f"{_WORD_SEAM.sub('_', name)}: "
