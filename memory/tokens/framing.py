"""What a chat model sees of a message: the texts that are tokenized, and constants for what is around them.

The rule, per message: FRAMING_TOKENS, ROLE_TOKENS, the content, then, where given, the name, each tool call (its id,
name and arguments) and the id of the call that a result answers. Text parts and documents of plain text count their
text, pictures and other media a constant, and any other part its JSON text. Metadata, agent and provenance never reach
the model, so they count nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from durable_memory.memory.types import MEDIA_PARTS, TEXT_PARTS, ContentPart, Message
from durable_memory.memory.types.documents import held_in, words_about

FRAMING_TOKENS = 3
"""Start, separator and end of a message in the chat format of OpenAI's models (tokens_per_message, their cookbook)."""

ROLE_TOKENS = 1
"""The role. Each of the four roles is one token in both encodings."""

FIELD_TOKENS = 1
"""The mark before a name, a tool call, or the id of the call that is answered."""

MEDIA_TOKENS = 765
"""A picture of 1024 x 1024 at high detail (OpenAI's vision guide). The size is not known here: marked estimated."""


@dataclass(frozen=True, slots=True)
class Visible:
    """The texts of a message that a tokenizer has to count, and the tokens that need none."""

    texts: tuple[str, ...]
    fixed: int
    estimated: bool = False


def visible(message: Message) -> Visible:
    """Returns what a model sees of `message`."""
    content = message.content
    if isinstance(content, str) and not message.tool_calls and message.name is None and message.tool_call_id is None:
        return Visible((content,), FRAMING_TOKENS + ROLE_TOKENS)
    texts: list[str] = []
    fixed = FRAMING_TOKENS + ROLE_TOKENS
    estimated = False
    if isinstance(content, str):
        texts.append(content)
    for part in () if content is None or isinstance(content, str) else content:
        for seen in _seen_of(part):
            if seen is None:
                fixed += MEDIA_TOKENS
                estimated = True
            else:
                texts.append(seen)
    if message.name is not None:
        fixed += FIELD_TOKENS
        texts.append(message.name)
    for call in message.tool_calls:
        fixed += FIELD_TOKENS
        texts += (call.id, call.name, call.arguments)
    if message.tool_call_id is not None:
        fixed += FIELD_TOKENS
        texts.append(message.tool_call_id)
    return Visible(tuple(texts), fixed, estimated)


def _seen_of(part: ContentPart) -> Iterator[str | None]:
    """Yields the texts that a part shows, and None for each picture or other medium."""
    if part.get("type") == "document":
        yield from seen_of_document(part)
    else:
        yield None if part.get("type") in MEDIA_PARTS else _part_text(part)


def seen_of_document(part: ContentPart) -> Iterator[str | None]:
    """Yields the same of a document of Anthropic's: plain text and parts are read as they are, a PDF is a medium."""
    yield from words_about(part)
    held = held_in(part)
    if held is None:
        yield None
    for one in held or ():
        yield from _seen_of(one)


def _part_text(part: ContentPart) -> str:
    text = part.get("text")
    if part.get("type") in TEXT_PARTS and isinstance(text, str):
        return text
    # Not escaped, which would inflate other scripts by several times.
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"))
