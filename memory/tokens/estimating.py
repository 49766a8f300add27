"""Counters that estimate, for models whose tokenizer is not published."""

from __future__ import annotations

import math
from collections.abc import Sequence

from durable_memory.memory.tokens.counter import Count, TokenCounter
from durable_memory.memory.tokens.estimate import estimate_tokens
from durable_memory.memory.tokens.framing import visible
from durable_memory.memory.types import Message


class ScaledCounter:
    """A TokenCounter that takes the counts of another one times a factor, rounded up, as estimates.

    The factor may change; what was counted keeps its tokens.
    """

    def __init__(self, counter: TokenCounter, factor: float) -> None:
        self.base = counter
        self.factor = factor

    async def count(self, messages: Sequence[Message]) -> list[Count]:
        """See TokenCounter."""
        return [self._scaled(count) for count in await self.base.count(messages)]

    async def count_text(self, text: str) -> Count:
        """See TokenCounter."""
        return self._scaled(await self.base.count_text(text))

    async def count_texts(self, texts: Sequence[str]) -> list[Count]:
        """See TokenCounter."""
        return [self._scaled(count) for count in await self.base.count_texts(texts)]

    def _scaled(self, count: Count) -> Count:
        return Count(math.ceil(count.tokens * self.factor), estimated=True)


class ByteCounter:
    """A TokenCounter that needs no tokenizer: a third of the bytes of UTF-8, and the framing, as estimates."""

    async def count(self, messages: Sequence[Message]) -> list[Count]:
        """See TokenCounter."""
        seen = map(visible, messages)
        return [Count(message.fixed + sum(map(estimate_tokens, message.texts)), estimated=True) for message in seen]

    async def count_text(self, text: str) -> Count:
        """See TokenCounter."""
        return Count(estimate_tokens(text), estimated=True)

    async def count_texts(self, texts: Sequence[str]) -> list[Count]:
        """See TokenCounter; a megabyte takes a millisecond."""
        return [Count(estimate_tokens(text), estimated=True) for text in texts]
