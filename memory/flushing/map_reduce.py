"""Map-reduce for more than a summariser reads at once: summaries of the parts, then a summary of those."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Final

from durable_memory.memory.cutting import cut
from durable_memory.memory.errors import MESSAGES_STAY, MemorySummaryRejected
from durable_memory.memory.flushing.blank_text import is_blank
from durable_memory.memory.flushing.json_lines import line_tokens, told_parts
from durable_memory.memory.flushing.summarizer import Summarizer, SummaryRequest
from durable_memory.memory.flushing.summary import covered, earlier_summary
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.types import Message, clean_text

_SHRINKS_TO: Final = 1 / 4
"""Of the input limit: what the summary of a part is to have as a bare text."""

_LINE_SHRINKS_TO: Final = 1 / 2
"""Of the input limit: what it may have as the line that the next round reads, which escapes make longer. Any two fit
into a part, so each round leaves half as many parts, and the rounds end."""

_SMALLEST_LIMIT: Final = 64
"""Below it the framing of the parts' summaries would outweigh what they say."""

_ENDS: Final = (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit)
"""What is no Exception because it ends the task or the program."""


async def summarize_in_parts(summarizer: Summarizer, request: SummaryRequest) -> str:
    """Returns the summary of the request, asking for no more than `summarizer.max_input_tokens` at once.

    Raises MemorySummaryRejected if it is no text or shows nothing, or the summary of a part does, or is too large to be
    read with another one; and for what is no summariser.
    """
    limit = _checked_limit(summarizer)
    if limit is None:
        return await _asked(summarizer, request)
    room = max(1, min(request.max_tokens, int(limit * _SHRINKS_TO)))
    parts_before = math.inf
    while True:
        parts = [part async for part in _parts(request.messages, limit, request.counter)]
        if len(parts) == 1:
            return await _asked(summarizer, replace(request, messages=parts[0]))
        if len(parts) >= parts_before:  # a counter has counted the same lines as more than before
            raise MemorySummaryRejected(
                f"the summaries of {parts_before} parts fill {len(parts)} parts again; {MESSAGES_STAY}"
            )
        parts_before = len(parts)
        summaries = [
            await _summary_of_part(summarizer, SummaryRequest(part, room, request.counter), limit) for part in parts
        ]
        request = replace(request, messages=tuple(summaries))


def _checked_limit(summarizer: Summarizer) -> int | None:
    """Returns max_input_tokens of what a program gave as its summariser, whatever that is."""
    try:
        limit: object = summarizer.max_input_tokens
    except AttributeError:
        raise MemorySummaryRejected(
            "the summariser has no max_input_tokens, and has to have it: a whole number, or None for any size"
        ) from None
    if not callable(getattr(summarizer, "summarize", None)):
        raise MemorySummaryRejected("the summariser has no method summarize, and has to have it")
    if limit is None:
        return None
    if not isinstance(limit, int):
        raise MemorySummaryRejected(
            f"max_input_tokens of the summariser is a {type(limit).__name__}, and has to be a whole number or None"
        )
    if limit < _SMALLEST_LIMIT:
        raise MemorySummaryRejected(
            f"the summariser reads only {limit} tokens at once; it has to read {_SMALLEST_LIMIT} at least"
        )
    return limit


async def _summary_of_part(summarizer: Summarizer, request: SummaryRequest, limit: int) -> Message:
    summary = earlier_summary(await _asked(summarizer, request), covered(request.messages))
    (tokens,) = await line_tokens([summary], request.counter)
    most = int(limit * _LINE_SHRINKS_TO)
    if tokens > most:
        raise MemorySummaryRejected(
            f"the summary of a part has {tokens} tokens as a line of JSON, at most {most} are allowed, half of what "
            f"the summariser reads at once; {MESSAGES_STAY}"
        )
    return summary


async def _asked(summarizer: Summarizer, request: SummaryRequest) -> str:
    """Returns what a summariser wrote, fit to be stored, without surrounding space. Raises what it raises."""
    try:
        answer: object = summarizer.summarize(request)
        text: object = await answer if inspect.isawaitable(answer) else answer
    except BaseException as error:
        if isinstance(error, (Exception, *_ENDS)):
            raise
        # Libraries in Rust panic so. Nobody would take it for a failure, and its words may repeat content.
        raise MemorySummaryRejected(
            f"the summariser broke off with a {type(error).__name__}; {MESSAGES_STAY}"
        ) from None
    if text is answer:
        raise MemorySummaryRejected("summarize of the summariser is no `async def`, and has to be one")
    if not isinstance(text, str):
        raise MemorySummaryRejected(
            f"the summariser returned a {type(text).__name__}, and has to return text; {MESSAGES_STAY}"
        )
    text = clean_text(text).strip()
    if is_blank(text):
        what = "a text of invisible characters alone" if text else "an empty text"
        raise MemorySummaryRejected(f"the summariser returned {what}; {MESSAGES_STAY}")
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
    for message, tokens in zip(messages, await line_tokens(messages, counter), strict=True):
        text = _written_out(message) if tokens > limit else ""
        first = cut(text, len(text) // 2)
        if not first:
            yield message, tokens
            continue
        halves = [replace(message, content=half, tool_calls=()) for half in (first, text[len(first) :])]
        async for half in _fitting(halves, limit, counter):
            yield half


def _written_out(message: Message) -> str:
    """Returns all that a message says as one text, which can be cut."""
    said = [message.text]
    said += (json.dumps(part, ensure_ascii=False) for part in told_parts(message))
    said += (f"calls {call.name} {call.arguments}" for call in message.tool_calls)
    return "\n".join(filter(None, said))
