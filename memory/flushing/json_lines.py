"""Messages as a summariser is told them: each is one line of JSON, so that none can pretend to be another one's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from durable_memory.memory.authors import author_of
from durable_memory.memory.flushing.media import without_media
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.types import LONG_TERM, Message
from durable_memory.memory.types.clean import Json

LINE_BEGINS: Final = ('{"role": ', '{"kind": ')
"""How the line of a message begins."""

_LINE_END_TOKENS: Final = 1


def line_of(message: Message) -> str:
    """Returns the line of a message."""
    return json.dumps(_entry(message), ensure_ascii=False)


async def line_tokens(messages: Sequence[Message], counter: TokenCounter) -> list[int]:
    """Returns the tokens of the line of each message, which are many more than its own where it is short or quotes."""
    lines = await asyncio.to_thread(_lines_of, messages)
    return [count.tokens + _LINE_END_TOKENS for count in await counter.count_texts(lines)]


def _lines_of(messages: Sequence[Message]) -> list[str]:
    return [line_of(message) for message in messages]


def texts_told(messages: Sequence[Message]) -> Iterator[str]:
    """Yields every text that a summariser is told of these messages, without the names of our fields."""
    for message in messages:
        entry = _entry(message)
        entry.pop("role", None)
        entry.pop("kind", None)
        yield from _texts(list(entry.values()))


def told_parts(message: Message) -> list[Json]:
    """Returns what is told of the parts without a text: not what they hold as data, such as a picture in Base64.

    To a model that is noise, a request for every few thousand tokens of it.
    """
    parts = message.content if isinstance(message.content, tuple) else ()
    return [without_media(part) for part in parts if "text" not in part]


def _entry(message: Message) -> dict[str, object]:
    if message.section == LONG_TERM:
        return {"kind": "summary", "text": message.text}
    entry: dict[str, object] = {"role": message.role, "name": author_of(message), "text": message.text}
    entry["parts"] = told_parts(message)
    entry["calls"] = [{"name": call.name, "arguments": call.arguments} for call in message.tool_calls]
    return {name: value for name, value in entry.items() if value}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif value is not None:
        yield str(value)
