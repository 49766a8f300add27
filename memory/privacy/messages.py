"""Which parts of a message are redacted, and which messages are not kept at all."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final

from durable_memory.memory.privacy.walk import Walk
from durable_memory.memory.types import TEXT_PARTS, Message, Role, ToolCall

_PART_WORDS: Final = TEXT_PARTS | {
    *("type", "image_url", "image", "file", "document", "input_audio", "refusal", "thinking", "redacted_thinking"),
    *("url", "detail", "file_data", "file_id", "filename", "format", "source", "base64", "media_type", "data", "title"),
}
"""By which APIs know the parts of a content. One of them changed, and no model takes the conversation any more."""


def redact_message(message: Message, walk: Walk) -> Message:
    """Returns the message with every text, number and key that a caller may fill redacted.

    Left as they are: role, section, the ids by which calls and results find each other, and the words of APIs that say
    what a part is.
    """
    content = message.content
    if isinstance(content, str):
        content = walk.text(content)
    elif content is not None:
        content = tuple(walk.object(part, _PART_WORDS) for part in content)
    redacted: dict[str, Any] = {
        "content": content,
        "name": _named(message.name, walk),
        "agent": _named(message.agent, walk),
        "tool_calls": tuple(_called(call, walk) for call in message.tool_calls),
        "metadata": walk.object(message.metadata),
    }
    changed = {name: value for name, value in redacted.items() if value != getattr(message, name)}
    return replace(message, **changed) if changed else message


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
