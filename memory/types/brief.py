"""How values with many fields are shown: those that say something."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any


def brief(self: Any) -> str:
    """The `__repr__` of a dataclass: the code that makes it, without the fields that have their defaults."""
    return f"{type(self).__name__}({', '.join(_given(self))})"


def _given(value: Any) -> Iterator[str]:
    for field in fields(value):
        given: object = getattr(value, field.name)
        if given != (field.default if field.default_factory is MISSING else field.default_factory()):
            yield f"{field.name}={given!r}"
