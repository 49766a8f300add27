"""Summaries of more than a summariser reads at once: in parts, then the summaries of the parts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Final

from durable_memory.memory.errors import MemorySummaryRejected
from durable_memory.memory.flushing.cutting import cut
from durable_memory.memory.flushing.summarizer import Summarizer, SummaryRequest
from durable_memory.memory.flushing.summary import covered, summary_message
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.types import Message

_PART_SHRINKS_TO: Final = 1 / 4
"""Of the input limit: what the summary of a part may have, so that each round leaves a quarter."""

_ROUNDS: Final = 20


async def summarize_in_parts(summarizer: Summarizer, request: SummaryRequest) -> str:
    """Returns the summary of the request, asking for no more than `summarizer.max_input_tokens` at once."""
    limit = summarizer.max_input_tokens
    if limit is None:
        return await summarizer.summarize(request)
    for _ in range(_ROUNDS):
        parts = [part async for part in _parts(request.messages, limit, request.counter)]
        if len(parts) == 1:
            return await summarizer.summarize(replace(request, messages=parts[0]))
        room = max(1, min(request.max_tokens, int(limit * _PART_SHRINKS_TO)))
        summaries = [await summarizer.summarize(SummaryRequest(part, room, request.counter)) for part in parts]
        request = replace(
            request,
            messages=tuple(
                replace(summary_message(checked_summary(text), covered(part), brief=True), section="long_term")
                for text, part in zip(summaries, parts, strict=True)
            ),
        )
    raise MemorySummaryRejected(
        f"the summariser does not shorten: after {_ROUNDS} rounds the summaries still exceed its {limit} input tokens"
    )


def checked_summary(text: str) -> str:
    """Returns what a summariser wrote without surrounding space. Raises MemorySummaryRejected if nothing is left."""
    text = text.strip()
    if not text:
        raise MemorySummaryRejected("the summariser returned an empty text; the messages stay as they are")
    return text


async def _parts(messages: Sequence[Message], limit: int, counter: TokenCounter) -> AsyncIterator[tuple[Message, ...]]:
    part: list[Message] = []
    used = 0
    async for message, tokens in _fitting(messages, limit, counter):
        if part and used + tokens > limit:
            yield tuple(part)
            part, used = [], 0
        part.append(message)
        used += tokens
    if part:
        yield tuple(part)


async def _fitting(
    messages: Sequence[Message], limit: int, counter: TokenCounter
) -> AsyncIterator[tuple[Message, int]]:
    """Yields the messages with their tokens; one that exceeds the limit alone comes in halves, as often as needed."""
    counts = await counter.count(messages)
    for message, count in zip(messages, counts, strict=True):
        text = message.text
        if count.tokens <= limit or len(text) <= 1:
            yield message, count.tokens
            continue
        first = cut(text, len(text) // 2) or text[:1]
        halves = [replace(message, content=half, tool_calls=()) for half in (first, text[len(first) :])]
        async for half in _fitting(halves, limit, counter):
            yield half
