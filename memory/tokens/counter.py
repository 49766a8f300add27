"""The token counter as a port: how many tokens of a model's window a message fills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from durable_memory.memory.types import Message


@dataclass(frozen=True, slots=True)
class Count:
    """A number of tokens. estimated: no tokenizer counted it, or not all of it, so the real number may differ."""

    tokens: int
    estimated: bool = False


class TokenCounter(Protocol):
    """Counts tokens. Never refuses a text and never fails an append: what it cannot count, it estimates and marks."""

    async def count(self, messages: Sequence[Message]) -> list[Count]:
        """Returns for each message what a chat model sees of it, framing included."""
        ...

    async def count_text(self, text: str) -> Count:
        """Returns the tokens of a bare text, without any framing."""
        ...

    async def count_texts(self, texts: Sequence[str]) -> list[Count]:
        """Returns the same for each of many texts, without holding the event loop up."""
        ...
