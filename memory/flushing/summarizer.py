"""The summariser as a port: what turns the messages of a flush into one text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.types import Message


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """What to summarise.

    messages: never empty; summaries of earlier flushes first (section `long_term`, in the words of whoever wrote them),
    then the conversation in order.
    max_tokens: what the text may have at most by `counter`, at least 1. Where a request is summarised in parts, the
    text of a part may be longer: as a line of JSON, up to half of `max_input_tokens`.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    counter: TokenCounter


class Summarizer(Protocol):
    """Writes summaries. May be called again for the same messages; must be safe to cancel at every await."""

    @property
    def max_input_tokens(self) -> int | None:
        """What one request may hold at most, in tokens of its messages as lines of JSON; None for any size.

        At least 64. More is summarised in parts, and then the summaries of the parts.
        """
        ...

    async def summarize(self, request: SummaryRequest) -> str:
        """Returns the summary. Raises on failure: an apology or an empty text would replace the messages."""
        ...
