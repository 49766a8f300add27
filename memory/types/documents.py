"""Documents in a message, as Anthropic's API has them: the words about one, and what it holds to be read as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from durable_memory.memory.types.vocabulary import ContentPart

_HELD_IN: Final = {"text": "data", "content": "content"}
"""By the type of a source: its field with what is no file."""


def words_about(part: ContentPart) -> list[str]:
    """Returns the title and the context of a document, where it has them."""
    return [words for name in ("title", "context") if isinstance(words := part.get(name), str) and words]


def held_in(part: ContentPart) -> list[ContentPart] | None:
    """Returns what a document holds, as parts; None for a file, such as a PDF, and for what is nothing of both."""
    source = part.get("source")
    kind = source.get("type") if isinstance(source, Mapping) else None
    if not isinstance(source, Mapping) or not isinstance(kind, str) or kind not in _HELD_IN:
        return None
    held = source.get(_HELD_IN[kind])
    if isinstance(held, str):
        return [{"type": "text", "text": held}]
    if kind == "text" or not isinstance(held, (list, tuple)):
        return None
    inner: list[ContentPart] = []
    for one in held:
        if isinstance(one, Mapping):
            inner.append(one if isinstance(one.get("type"), str) else {**one, "type": "text"})
        elif isinstance(one, str):
            inner.append({"type": "text", "text": one})
        else:
            return None
    return inner
