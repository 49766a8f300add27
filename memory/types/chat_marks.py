"""Marks on the parts of a message that are of the request it was sent with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_MARKS: Final = frozenset({"cache_control", "prompt_cache_breakpoint"})
"""APIs take a few of these in a request, and a view would gather more."""

_HOLD_PARTS: Final = frozenset({"content", "source", "file", "image_url", "input_audio"})
"""Fields of a part in which others stand, as in a document. The input of a call is its tool's own."""


def unmarked(part: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a part without marks, also on those inside of it."""
    return {
        name: _unmarked_inside(value) if name in _HOLD_PARTS else value
        for name, value in part.items()
        if name not in _MARKS
    }


def _unmarked_inside(value: Any) -> Any:
    if isinstance(value, Mapping):
        return unmarked(value)
    return [_unmarked_inside(item) for item in value] if isinstance(value, (list, tuple)) else value
