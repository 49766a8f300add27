"""Messages as items of OpenAI's Responses API, which the OpenAI Agents SDK works with as well."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from typing import Any, Final, cast

from durable_memory.memory.types.call_ids import CallIds, OwnIds
from durable_memory.memory.types.chat_given import ChatMessage, SdkModel, own_prompt
from durable_memory.memory.types.chat_marks import unmarked
from durable_memory.memory.types.chat_openai import (
    DETAILS,
    accepted_call,
    accepted_id,
    chat_parts,
    is_wordless_failure,
)
from durable_memory.memory.types.chat_words import FAILED, mention
from durable_memory.memory.types.clean import InvalidValue, clean_json
from durable_memory.memory.types.message import Message
from durable_memory.memory.types.tool_call import ToolCall
from durable_memory.memory.types.vocabulary import TEXT_PARTS, THOUGHTS, ContentPart

Item = dict[str, Any]

_CALL: Final = "_call"
_OUTPUT: Final = "_call_output"
"""How the types of items end that are calls of tools, and their results: of functions, shells, patches and others."""

_REFUSED: Final = {
    "item_reference": "OpenAI keeps what it refers to; give the item itself",
    "compaction": "only OpenAI can read it; a memory keeps the conversation and summarises it itself",
}
"""Items that stand for others which the memory would not have, and why it takes none."""

_OF_THE_ITEM: Final = frozenset(
    {"type", "id", "call_id", "status", "name", "namespace", "caller", "created_by", "async", "async_"}
)
"""Fields of a call that are not what it says."""

_PARSED: Final = ("parsed", "parsed_arguments")
"""What the SDK made of a text that stands beside it: an object of any class, which the API does not know."""

_PHASE: Final = "openai_phase"
"""Field of a message's metadata: which part of an answer it is, which the API wants to have back."""

_INPUT_PARTS: Final = {
    "input_text": ("text",),
    "input_image": ("image_url", "file_id"),
    "input_file": ("file_data", "file_id", "file_url"),
}
"""By type, the texts of which a part has one."""


def openai_responses_items(messages: Iterable[Message], system: str | None = None) -> list[Item]:
    """Returns the `input` of a Responses request. system: a prompt of your own, which comes first.

    All calls are those of functions, no two with the same id. Parts of other APIs become those of this one where there
    is an equal, and their type in brackets where not. A model's thoughts are left out, names of authors have no place.

    Raises InvalidValue if `system` is no text.
    """
    ids = CallIds(accepted_id)
    return [item for message in (*own_prompt(system), *messages) for item in _items(message, ids)]


def responses_items(message: Message) -> list[Item]:
    """Returns the items that stand for one message, calls by their own ids; none if it held nothing but thoughts."""
    return _items(message, OwnIds(accepted_id))


def messages_from_openai_responses(items: str | Iterable[ChatMessage]) -> tuple[Message, ...]:
    """Reads items of the Responses API: the `input` of a request, or `response.output`. Text is a user message.

    The calls behind a message of the assistant, or behind each other, become one message, so that they stay together
    with their results. Calls of other tools that your side runs (custom ones, shells, patches, computers, searches for
    tools), and of an MCP server, become calls of functions of that name. Left out is what a model does not read again
    or has put into its words: reasoning, what the service's own tools and programs did, settings of a request,
    approvals, ids, annotations, and messages that say nothing. Raises InvalidValue, also for a `compaction` and an
    `item_reference`, which stand for what only OpenAI has.
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
    return tuple(reader.messages)


class _Reader:
    """Makes messages of items one after the other; a call joins what the assistant said or called just before."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._is_open = False

    def take(self, item: Item) -> None:
        kind = item["type"]
        if kind == "mcp_call":
            self._call(ToolCall(_named(item, "id"), _named(item, "name"), _named(item, "arguments")))
            self._add(Message.tool(_result(item.get("output") or item.get("error")), item["id"]))
        elif kind == "function_call":
            self._call(ToolCall(_named(item, "call_id"), _named(item, "name"), _named(item, "arguments")))
        elif kind.endswith(_CALL) and "call_id" in item:
            self._call(ToolCall(_named(item, "call_id"), item.get("name") or kind.removesuffix(_CALL), _told(item)))
        elif kind == "tool_search_output":
            if "call_id" in item:  # or the service has searched itself, whose call is left out too
                self._add(Message.tool(_result(item.get("tools")), _named(item, "call_id")))
        elif kind.endswith(_OUTPUT):
            # A local shell's has the id of its call in `id`, and `call_id` in the SDK for agents.
            named = "id" if kind == "local_shell_call_output" and "call_id" not in item else "call_id"
            self._add(Message.tool(_result(item.get("output")), _named(item, named)))
        elif kind == "message" and item.get("content"):
            self._take_message(item)

    def _take_message(self, item: Item) -> None:
        role, content = item.get("role"), item["content"]
        if role == "assistant":
            said = _said(content)
            if said:
                self._add(Message.assistant(said, metadata=_phase(_PHASE, item.get("phase"))), is_open=True)
        else:
            self._add(Message.from_dict({"role": "system" if role == "developer" else role, "content": content}, ""))

    def _call(self, call: ToolCall) -> None:
        if self._is_open:
            before = self.messages.pop()
            calls, said, metadata = (*before.tool_calls, call), before.content, before.metadata
        else:
            calls, said, metadata = (call,), None, {}
        self._add(Message("assistant", said, tool_calls=calls, metadata=metadata), is_open=True)

    def _add(self, message: Message, *, is_open: bool = False) -> None:
        self.messages.append(message)
        self._is_open = is_open


def _given(item: object) -> Item:
    found = item
    if isinstance(item, SdkModel):
        found = item.model_dump(exclude_unset=True, by_alias=True, warnings=False)
    if not isinstance(found, Mapping):
        raise InvalidValue("", f"must be an object, not {type(item).__name__}")
    sent = {name: _unparsed(value) for name, value in found.items() if value is not None and name not in _PARSED}
    data = cast("Item", clean_json(sent, ""))
    kind = data.setdefault("type", "message") if "role" in data else data.get("type")
    if not isinstance(kind, str) or not kind:
        raise InvalidValue("type", "is missing; an item has a type, a message a role")
    if kind in _REFUSED:
        raise InvalidValue("type", f"is {kind}: {_REFUSED[kind]}")
    return data


def _unparsed(content: object) -> object:
    """The parts of a content as the API sent them."""
    if not isinstance(content, list):
        return content
    return [_without(part, _PARSED) if isinstance(part, Mapping) else part for part in content]


def _without(data: Mapping[str, Any], names: Container[str]) -> Item:
    return {name: value for name, value in data.items() if name not in names}


def _phase(name: str, value: object) -> dict[str, str]:
    """Returns a phase under this name; nothing for what is none, which a caller may have put into the metadata."""
    return {name: value} if value and isinstance(value, str) else {}


def _named(item: Item, name: str) -> str:
    value = item.get(name)
    if not isinstance(value, str):
        raise InvalidValue(name, f"must be text in an item of the type {item['type']}")
    return value


def _told(item: Item) -> str:
    """What a call of no function says, as arguments of one."""
    return json.dumps(_without(item, _OF_THE_ITEM), ensure_ascii=False)


def _result(output: Any) -> Any:
    """The output of a tool as content: text, parts of input, or, of a shell and others, its JSON."""
    if output is None or isinstance(output, str):
        return output or ""
    if isinstance(output, Mapping) and isinstance(output.get("image_url"), str):  # a computer's screenshot
        return [{"type": "input_image", "image_url": output["image_url"], "detail": "auto"}]
    if isinstance(output, list) and output:
        for index, part in enumerate(output):
            if isinstance(part, Mapping) and not isinstance(part.get("type", ""), str):
                raise InvalidValue(f"output[{index}].type", "must be text")
        if all(_is_part(part) for part in output):
            return output
    return json.dumps(output, ensure_ascii=False)


def _is_part(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") in _INPUT_PARTS


def _said(content: Any) -> Any:
    """What the assistant said, without what the API adds to its text."""
    if not isinstance(content, list):
        return content
    parts = [_bare(part) for part in content]
    if len(parts) == 1 and isinstance(parts[0], Mapping) and parts[0].get("type") == "output_text":
        return parts[0]["text"]
    return parts


def _bare(part: Any) -> Any:
    if isinstance(part, Mapping) and part.get("type") == "output_text":
        return {"type": "output_text", "text": part.get("text", "")}
    return part


def _items(message: Message, ids: CallIds | OwnIds) -> list[Item]:
    if message.role == "assistant":
        return [*_said_items(message), *(_call_item(call, ids) for call in message.tool_calls)]
    content = _input(message)
    if message.tool_call_id is not None:
        return [{"type": "function_call_output", "call_id": ids.of_result(message.tool_call_id), "output": content}]
    return [{"role": message.role, "content": content}] if content else []


def _said_items(message: Message) -> list[Item]:
    parts = [{"type": "text", "text": message.content}] if isinstance(message.content, str) else message.content
    said = [_words(part) for part in parts or () if part["type"] not in THOUGHTS]
    phase = _phase("phase", message.metadata.get(_PHASE))
    return [{"role": "assistant", "content": words, **phase} for words in said if words]


def _words(part: ContentPart) -> Any:
    if part["type"] not in TEXT_PARTS:
        return mention(part)["text"]
    text = part.get("text")
    return None if text is None else str(text)


def _call_item(call: ToolCall, ids: CallIds | OwnIds) -> Item:
    call = accepted_call(call, ids)
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}


def _input(message: Message) -> str | list[Item]:
    """The content of all but the assistant, in parts of input; the system may send no more than text."""
    if is_wordless_failure(message):
        return FAILED
    if not isinstance(message.content, tuple):
        return message.content or ""
    made = [each for part in message.content if part["type"] not in THOUGHTS for each in _input_parts(part)]
    if message.role == "system":
        made = [each if each["type"] == "input_text" else _text(mention(each)) for each in made]
    return made or ""


def _input_parts(part: ContentPart) -> list[Item]:
    given = [part.get(name) for name in _INPUT_PARTS.get(part["type"], ())]
    if any(given) and all(value is None or isinstance(value, str) for value in given):
        return [unmarked(part)]
    return [_input_part(each) for each in chat_parts(part)]


def _input_part(part: Mapping[str, Any]) -> Item:
    """A part of chat completions as one of input."""
    match part["type"]:
        case "text":
            return _text(part)
        case "image_url":
            url = part["image_url"]
            detail = url.get("detail")
            return {"type": "input_image", "image_url": url["url"], "detail": detail if detail in DETAILS else "auto"}
        case "file":
            return {**part["file"], "type": "input_file"}
    return _text(mention(part))


def _text(part: Mapping[str, Any]) -> Item:
    return {"type": "input_text", "text": part["text"]}
