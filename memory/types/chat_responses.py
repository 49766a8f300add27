"""Messages as items of OpenAI's Responses API, which the OpenAI Agents SDK works with as well."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from durable_memory.memory.types.chat_given import ChatMessage, SdkModel, own_prompt
from durable_memory.memory.types.chat_openai import THOUGHTS, accepted_call, accepted_id, chat_parts, mention
from durable_memory.memory.types.clean import InvalidValue, Json, clean_json
from durable_memory.memory.types.message import TEXT_PARTS, ContentPart, Message
from durable_memory.memory.types.tool_call import ToolCall

Item = dict[str, Any]

_CALL: Final = "_call"
_OUTPUT: Final = "_output"
"""How the types of items end that are calls of tools, and their results: those of functions, and many others."""

_NO_CALLS: Final = frozenset({"mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "compaction"})
"""Other items that the API takes back."""

_INPUT_PARTS: Final = frozenset({"input_text", "input_image", "input_file"})


def openai_responses_items(messages: Iterable[Message], system: str | None = None) -> list[Item]:
    """Returns the `input` of a Responses request. system: a prompt of your own, which comes first.

    Parts of other APIs become those of this one where there is an equal, and their type in brackets where not. Items
    that `messages_from_openai_responses` kept as they were come back so. A model's thoughts are left out, names of
    authors have no place.

    Raises InvalidValue if `system` is no text.
    """
    return [item for message in (*own_prompt(system), *messages) for item in _items(message)]


def messages_from_openai_responses(items: str | Iterable[ChatMessage]) -> tuple[Message, ...]:
    """Reads items of the Responses API: the `input` of a request, or `response.output`. Text is a user message.

    The calls behind a message of the assistant, or behind each other, become one message, so that they stay together
    with their results. Calls of a service's own tools, and what else the API may give, are kept as they are. Left out
    is what a model does not read again: its reasoning, and ids and annotations of what it said. Raises InvalidValue.
    """
    if isinstance(items, str):
        return (Message.user(items),)
    if isinstance(items, (Mapping, SdkModel)) or not isinstance(items, Iterable):
        raise InvalidValue("items", f"must be a list of items, as `response.output`, not {type(items).__name__}")
    reader = _Reader()
    for index, item in enumerate(items):
        try:
            reader.take(_given(item))
        except InvalidValue as error:
            place = error.path.lstrip(".")
            raise InvalidValue(f"items[{index}].{place}" if place else f"items[{index}]", error.problem) from None
    return reader.messages()


class _Reader:
    """Gathers what the assistant says and calls until something else comes."""

    def __init__(self) -> None:
        self._read: list[Message] = []
        self._said: str | list[ContentPart] | None = None
        self._calls: list[ToolCall] = []

    def take(self, item: Item) -> None:
        kind = item["type"]
        if kind == "reasoning":
            return
        if kind == "function_call":
            self._calls.append(ToolCall(_named(item, "call_id"), _named(item, "name"), _named(item, "arguments")))
        elif kind.endswith(_CALL) and "call_id" in item:
            self._calls.append(ToolCall(_named(item, "call_id"), kind, json.dumps(item, ensure_ascii=False)))
        else:
            self._close()
            self._take_message(kind, item)

    def _take_message(self, kind: str, item: Item) -> None:
        if kind == "function_call_output":
            self._read.append(Message.tool(item.get("output", ""), _named(item, "call_id")))
        elif kind.endswith(_OUTPUT) and "call_id" in item:
            self._read.append(Message.tool([item], _named(item, "call_id")))
        elif kind != "message":
            self._said = [item]
        elif item.get("role") == "assistant":
            self._said = _said(item.get("content"))
        else:
            role = "system" if item.get("role") == "developer" else item.get("role")
            self._read.append(Message.from_dict({"role": role, "content": item.get("content")}, ""))

    def messages(self) -> tuple[Message, ...]:
        self._close()
        return tuple(self._read)

    def _close(self) -> None:
        if self._said or self._calls:
            self._read.append(Message.assistant(self._said or None, tool_calls=self._calls))
        self._said, self._calls = None, []


def _given(item: object) -> Item:
    found = item.model_dump(exclude_unset=True) if isinstance(item, SdkModel) else item
    if not isinstance(found, Mapping):
        raise InvalidValue("", f"must be an object, not {type(item).__name__}")
    data = cast("Item", clean_json({name: value for name, value in found.items() if value is not None}, ""))
    kind = data.setdefault("type", "message") if "role" in data else data.get("type")
    if not isinstance(kind, str) or not kind:
        raise InvalidValue("type", "is missing; an item has a type, a message a role")
    if kind == "item_reference":
        raise InvalidValue("type", "is item_reference: OpenAI keeps what it refers to; give the item itself")
    return data


def _named(item: Item, name: str) -> str:
    value = item.get(name)
    if not isinstance(value, str):
        raise InvalidValue(name, f"must be text in an item of the type {item['type']}")
    return value


def _said(content: Json) -> str | list[ContentPart] | None:
    """What the assistant said, without what the API adds to its text."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    parts = [_bare(part) for part in content]
    return parts[0]["text"] if len(parts) == 1 and parts[0].get("type") == "output_text" else parts


def _bare(part: Any) -> Any:
    if isinstance(part, Mapping) and part.get("type") == "output_text":
        return {"type": "output_text", "text": part.get("text", "")}
    return part


def _items(message: Message) -> list[Item]:
    if message.role == "assistant":
        return [*_said_items(message), *(_call_item(call) for call in message.tool_calls)]
    if message.role == "tool":
        return [_result_item(message)]
    content = _input(message)
    return [{"role": message.role, "content": content}] if content else []


def _said_items(message: Message) -> list[Item]:
    parts = [{"type": "text", "text": message.content}] if isinstance(message.content, str) else message.content
    items: list[Item] = []
    for part in parts or ():
        kind = part["type"]
        if kind in THOUGHTS:
            continue
        if kind.endswith(_CALL) or kind in _NO_CALLS:
            items.append(dict(part))
            continue
        words = part.get("text") if kind in TEXT_PARTS else mention(part)["text"]
        if words:
            items.append({"role": "assistant", "content": words})
    return items


def _call_item(call: ToolCall) -> Item:
    if call.name.endswith(_CALL):
        try:
            item = json.loads(call.arguments)
        except ValueError:
            item = None
        if isinstance(item, dict) and item.get("type") == call.name and "call_id" in item:
            return item
    call = accepted_call(call)
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}


def _result_item(message: Message) -> Item:
    content, call_id = message.content, message.tool_call_id or ""
    if isinstance(content, tuple) and len(content) == 1:
        [part] = content
        if part["type"].endswith(_OUTPUT) and "call_id" in part:
            return dict(part)
    return {"type": "function_call_output", "call_id": accepted_id(call_id), "output": _input(message)}


def _input(message: Message) -> str | list[Item]:
    """The content of all but the assistant, in parts of input; the system may send no more than text."""
    if not isinstance(message.content, tuple):
        return message.content or ""
    made = [each for part in message.content if part["type"] not in THOUGHTS for each in _input_parts(part)]
    if message.role == "system":
        made = [each if each["type"] == "input_text" else _text(mention(each)) for each in made]
    return made or ""


def _input_parts(part: ContentPart) -> list[Item]:
    if part["type"] in _INPUT_PARTS and (part["type"] != "input_text" or part.get("text")):
        return [dict(part)]
    return [_input_part(each) for each in chat_parts(part)]


def _input_part(part: Mapping[str, Any]) -> Item:
    """A part of chat completions as one of input."""
    match part["type"]:
        case "text":
            return _text(part)
        case "image_url":
            url = part["image_url"]
            return {"type": "input_image", "image_url": url["url"], "detail": url.get("detail", "auto")}
        case "file":
            return {"type": "input_file", **part["file"]}
        case "input_audio":
            return dict(part)
    return _text(mention(part))


def _text(part: Mapping[str, Any]) -> Item:
    return {"type": "input_text", "text": part["text"]}
