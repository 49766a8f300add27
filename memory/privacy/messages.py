"""Which parts of a message are redacted, and which messages are not kept at all."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final

from durable_memory.memory.privacy.opaque import OPAQUE_WORDS, is_opaque, is_signed
from durable_memory.memory.privacy.walk import Kept, Walk
from durable_memory.memory.types import TEXT_PARTS, ContentPart, Message, Role, ToolCall

_PART_WORDS: Final = frozenset(
    [
        *TEXT_PARTS,
        *OPAQUE_WORDS,
        *("type", "image_url", "image", "file", "document", "input_audio", "refusal", "title", "url", "detail"),
        *("file_data", "file_id", "filename", "format", "source", "media_type"),
    ]
)
"""By which APIs know the parts of a content. One of them changed, and no model takes the conversation any more."""

_KEPT: Final = Kept(_PART_WORDS, is_opaque)


def redact_message(message: Message, walk: Walk) -> Message:
    """Returns the message with every text, number and key that a caller may fill redacted.

    Left as they are: role, section, the ids by which calls and results find each other, and the words of APIs that say
    what a part is, and data that is no text. A part that its provider has signed is left out where something of it
    would be taken out: what is changed below a signature is refused, with the whole conversation.
    """
    content = message.content
    if isinstance(content, str):
        content = walk.text(content)
    elif content is not None:
        content = _redacted_parts(content, walk)
        if message.content and not content:
            content = None if message.tool_calls else walk.marker
    redacted: dict[str, Any] = {
        "content": content,
        "name": _named(message.name, walk),
        "agent": _named(message.agent, walk),
        "tool_calls": tuple(_called(call, walk) for call in message.tool_calls),
        "metadata": walk.object(message.metadata),
    }
    changed = {name: value for name, value in redacted.items() if value != getattr(message, name)}
    return replace(message, **changed) if changed else message


def _redacted_parts(parts: Sequence[ContentPart], walk: Walk) -> tuple[ContentPart, ...]:
    redacted = [(part, walk.object(part, _KEPT)) for part in parts]
    return tuple(after for before, after in redacted if after == before or not is_signed(before))


def _named(name: str | None, walk: Walk) -> str | None:
    return None if name is None else walk.text(name)


def _called(call: ToolCall, walk: Walk) -> ToolCall:
    return ToolCall(call.id, walk.text(call.name), walk.text(call.arguments))


def without_kinds(messages: Sequence[Message], kinds: Collection[Role]) -> tuple[Message, ...]:
    """Returns the messages that are not of these kinds.

    Where results of tools are not kept, calls are not kept either: a call without its result stands in no view, and no
    model takes one. A message that does nothing but call is left out then, of others the text stays.
    """
    kept: list[Message] = []
    for message in messages:
        if message.role in kinds:
            continue
        if message.tool_calls and "tool" in kinds:
            if not message.content:
                continue
            kept.append(replace(message, tool_calls=()))
        else:
            kept.append(message)
    return tuple(kept)
