"""Cuts a message that is larger than its room: its text, between characters, with a mark. The rest stays."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import Final

from durable_memory.memory.cutting import cut
from durable_memory.memory.tokens.counter import Count, TokenCounter
from durable_memory.memory.types import ContentPart, Message

MARK: Final = " [truncated]"
"""What ends the text of a message that was cut, for the model that reads it."""

_CLOSE_ENOUGH: Final = 0.98
"""The share of the room that ends the search: little is left to win, and counting a long text takes milliseconds."""

_ROUNDS: Final = 16


async def cut_message(
    message: Message, tokens: int, max_tokens: int, counter: TokenCounter
) -> tuple[Message, Count] | None:
    """Returns a message of `tokens` tokens with as much of its text as fits into `max_tokens`, and its tokens then.

    Tool calls, names, pictures and other media stay. Returns None if these and the mark alone exceed `max_tokens`, or
    if there is no text to cut.
    """
    if not has_text(message):
        return None
    length = sum(map(len, _texts(message)))
    best, count = await _shortened(message, 0, counter)
    if count.tokens > max_tokens:
        return None
    # The tokens of a beginning grow almost in proportion to its length, so the next guess is on the line between the
    # last length that fitted and the last that did not. It keeps at least an eighth of the way from either, or the
    # search could take long.
    low, low_tokens, high, high_tokens = 0, count.tokens, length, tokens
    for _ in range(_ROUNDS):
        if high - low <= 1 or count.tokens >= max_tokens * _CLOSE_ENOUGH:
            break
        share = (max_tokens - low_tokens) / max(1, high_tokens - low_tokens)
        middle = low + max(1, min(high - low - 1, int((high - low) * min(0.875, max(0.125, share)))))
        shorter, of_shorter = await _shortened(message, middle, counter)
        if of_shorter.tokens <= max_tokens:
            best, count, low, low_tokens = shorter, of_shorter, middle, of_shorter.tokens
        else:
            high, high_tokens = middle, of_shorter.tokens
    return best, count


def has_text(message: Message) -> bool:
    """Tells whether a message has any text that may be cut."""
    return any(_texts(message))


def is_cut_of(shorter: Message, whole: Message) -> bool:
    """Tells whether a cut of `whole` may have left the content of `shorter`."""
    *before, last = _texts(shorter) or [""]
    mark = MARK.strip()
    kept = "".join(before) + last.removesuffix(mark).removesuffix(" ")
    return last.endswith(mark) and "".join(_texts(whole)).startswith(kept) and _media(shorter) == _media(whole)


def _media(message: Message) -> list[ContentPart]:
    """The parts that no cut touches."""
    return [part for part in message.content if not _text_of(part)] if isinstance(message.content, tuple) else []


async def _shortened(message: Message, length: int, counter: TokenCounter) -> tuple[Message, Count]:
    shorter = replace(message, content=_content(message, length))
    return shorter, (await counter.count([shorter]))[0]


def _texts(message: Message) -> list[str]:
    """The texts that may be cut."""
    if isinstance(message.content, str):
        return [message.content]
    return [text for part in message.content or () if (text := _text_of(part))]


def _text_of(part: ContentPart) -> str:
    text = part.get("text")
    return text if isinstance(text, str) else ""


def _content(message: Message, length: int) -> str | tuple[ContentPart, ...] | None:
    """Returns the content with `length` code points of text at most, and the mark behind them."""
    if not isinstance(message.content, tuple):
        return _marked(message.content or "", length)
    ends = list(accumulate(len(_text_of(part)) for part in message.content))
    parts: list[ContentPart] = []
    for part, end in zip(message.content, ends, strict=True):
        text = _text_of(part)
        begin = end - len(text)
        if not text or end <= length:
            parts.append(part)
        elif begin <= length:
            parts.append({**part, "text": _marked(text, length - begin)})
    return tuple(parts)


def _marked(text: str, length: int) -> str:
    kept = cut(text, length)
    return kept + MARK if kept else MARK.strip()
