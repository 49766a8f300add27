"""Messages as OpenAI's chat completions take and give them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from durable_memory.memory.types.call_ids import CallIds, OwnIds
from durable_memory.memory.types.chat_given import ChatMessage, given_message, own_prompt
from durable_memory.memory.types.chat_marks import unmarked
from durable_memory.memory.types.chat_words import FAILED, mention
from durable_memory.memory.types.clean import Json, clean_json
from durable_memory.memory.types.documents import held_in, words_about
from durable_memory.memory.types.message import Message
from durable_memory.memory.types.tool_call import ToolCall
from durable_memory.memory.types.vocabulary import TEXT_PARTS, THOUGHTS, ContentPart

_OF_OTHERS: Final = frozenset(
    {"image", "document", "search_result", "container_upload", "input_image", "input_file", "audio", "video"}
)
"""What users may send to Anthropic, in OpenAI's Responses or elsewhere, and not here unless something equals it: this
API refuses the whole request for one."""

_PICTURES: Final = frozenset({"image_url", "input_image"})

_HOLD: Final = {"image_url": ("url",), "file": ("file_data", "file_id")}
"""By the type of a part of this API, which is also the field with its object: one of these texts makes it one."""

DETAILS: Final = ("auto", "low", "high")
_UNNAMED_FILE: Final = "document.pdf"

_NOT_IN_NAMES: Final = re.compile(r"[\s<|\\/>]+")
_NOT_IN_TOOLS: Final = re.compile(r"[^a-zA-Z0-9_.:-]")
"""Nor in names that services take which speak like OpenAI, where it takes neither dots nor colons."""
_LONGEST_NAME: Final = 64
_LONGEST_ID: Final = 40
_UNNAMED: Final = "unnamed"
"""Stands for the name that a model left out of a call."""


def openai_messages(messages: Iterable[Message], system: str | None = None) -> list[dict[str, Json]]:
    """Returns the messages of a chat-completions request. system: a prompt of your own, which comes first.

    Parts of Anthropic's, and of OpenAI's Responses, become those of chat completions where there is an equal, and their
    type in brackets where not; a document of several things becomes several parts, its title and context words before
    them. Only users may send more than text: what else stands in the content of others is replaced in the same way, a
    model's thoughts are left out. Names, and ids of tool calls that another provider gave, are made such as the API
    accepts, no two ids the same: it refuses the whole request for one.

    Raises InvalidValue if `system` is no text.
    """
    ids = CallIds(accepted_id)
    return [data for message in (*own_prompt(system), *messages) if (data := _message(message, ids)) is not None]


def messages_from_openai(data: ChatMessage) -> tuple[Message, ...]:
    """Reads a chat-completions message, of a request or a response (`completion.choices[0].message`).

    A refusal is kept as a part, of audio the transcript. Calls of custom tools become calls of functions. Left out is
    what a model does not read again: annotations, and what some services add beside the content, as its thinking
    (`reasoning_content`, `thinking_blocks`). Raises InvalidValue.
    """
    data = given_message(data)
    content = data.get("content")
    if not content and data.get("refusal"):
        content = [{"type": "refusal", "refusal": data["refusal"]}]
    elif not content and isinstance(audio := data.get("audio"), Mapping):
        content = audio.get("transcript")
    known = {name: data[name] for name in ("name", "tool_call_id") if data.get(name) is not None}
    calls = data.get("tool_calls") or ()
    if isinstance(calls, (list, tuple)):
        calls = [_call(call, f"tool_calls[{index}]") for index, call in enumerate(calls)]
    known["tool_calls"] = calls
    role = "system" if data.get("role") == "developer" else data.get("role")
    return (Message.from_dict({"role": role, "content": content, **known}),)


def _call(call: object, path: str) -> object:
    """A call without what servers add to it, each their own; one of a custom tool as that of a function."""
    if not isinstance(call, Mapping):
        return call  # is refused with the message
    if isinstance(custom := call.get("custom"), Mapping):
        given = clean_json(_filled(custom, ("input",)), f"{path}.custom")
        arguments = json.dumps(given, ensure_ascii=False)
        return {"id": call.get("id"), "function": {"name": custom.get("name"), "arguments": arguments}}
    known = _filled(call, ("id", "type", "function"))
    if isinstance(function := known.get("function"), Mapping):
        known["function"] = _filled(function, ("name", "arguments"))
    return known


def _filled(data: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The fields that say something: pieces of a stream have all, and most of them empty."""
    return {name: data[name] for name in names if data.get(name) is not None}


def _message(message: Message, ids: CallIds) -> dict[str, Json] | None:
    data: dict[str, Json] = {"role": message.role, "content": _content(message)}
    if message.name and message.role != "tool":
        data["name"] = _NOT_IN_NAMES.sub("_", message.name)[:_LONGEST_NAME]
    if message.tool_calls:
        data["tool_calls"] = [accepted_call(call, ids).to_dict() for call in message.tool_calls]
    if message.tool_call_id is not None:
        data["tool_call_id"] = ids.of_result(message.tool_call_id)
    elif not data["content"] and not message.tool_calls:
        return None  # it held nothing but thoughts
    return data


def accepted_call(call: ToolCall, ids: CallIds | OwnIds) -> ToolCall:
    """Returns a call with an id and a name such as the API takes."""
    name = _NOT_IN_TOOLS.sub("_", call.name)[:_LONGEST_NAME] or _UNNAMED
    return ToolCall(ids.of_call(call.id), name, call.arguments)


def accepted_id(call_id: str) -> str:
    """Returns an id as it is, or one of the length that the API takes, which a call and its result get alike."""
    return call_id if len(call_id) <= _LONGEST_ID else hashlib.sha256(call_id.encode()).hexdigest()[:_LONGEST_ID]


def _content(message: Message) -> Json:
    if is_wordless_failure(message):
        return FAILED
    if message.content is None or isinstance(message.content, str):
        return message.content
    parts = [made for part in message.content if part["type"] not in THOUGHTS for made in chat_parts(part)]
    parts = [part if _may_be_said_by(message.role, part) else mention(part) for part in parts]
    if not parts:
        return "" if message.role == "tool" else None
    return parts


def is_wordless_failure(message: Message) -> bool:
    """Tells whether a tool has failed without a word: this API has no other place where that could stand."""
    return message.role == "tool" and message.metadata.get("is_error") is True and _says_nothing(message.content)


def _says_nothing(content: str | Sequence[ContentPart] | None) -> bool:
    if isinstance(content, str) or content is None:
        return not (content or "").strip()
    return all(part["type"] in TEXT_PARTS and not str(part.get("text") or "").strip() for part in content)


def _is_wordless(part: ContentPart) -> bool:
    return part["type"] in TEXT_PARTS and part.get("text") is None


def _may_be_said_by(role: str, part: Mapping[str, Json]) -> bool:
    if part["type"] == "refusal":
        return role == "assistant"
    return part["type"] == "text" or role == "user"


def chat_parts(part: ContentPart) -> list[Mapping[str, Json]]:
    """Returns a part in this API's terms: none where it says nothing, several for a document of several things."""
    if _is_wordless(part):
        return []
    if part["type"] == "document":
        return _document(part)
    return [_part(part)]


def _part(part: ContentPart) -> Mapping[str, Json]:
    kind = part["type"]
    if kind in TEXT_PARTS:
        return {"type": "text", "text": str(part["text"])}
    if kind == "image" and (url := _url(part.get("source"))):
        return {"type": "image_url", "image_url": {"url": url}}
    if kind in _PICTURES and (url := _link_of_picture(part)):
        detail = {"detail": part["detail"]} if part.get("detail") in DETAILS else {}
        return {"type": "image_url", "image_url": {"url": url, **detail}}
    if kind == "input_file":
        return _file(part)
    return mention(part) if kind in _OF_OTHERS or not _is_whole(part) else unmarked(part)


def _is_whole(part: ContentPart) -> bool:
    """Tells whether a part of this API says what its type promises: others have pictures and files of other forms."""
    kind = part["type"]
    if kind == "refusal":
        return isinstance(part.get("refusal"), str)
    held = part.get(kind)
    return kind not in _HOLD or (isinstance(held, Mapping) and any(_words(*map(held.get, _HOLD[kind]))))


def _link_of_picture(part: ContentPart) -> str | None:
    """Reads a picture as OpenAI's Responses have it, where the link is text and no object."""
    given = part.get("image_url")
    if isinstance(given, Mapping) and part["type"] == "input_image":
        given = given.get("url")
    return given if isinstance(given, str) else None


def _file(part: ContentPart) -> Mapping[str, Json]:
    """A file of the Responses API: its link can only be told, as a file is taken in Base64 or by its id alone."""
    name, data, known = part.get("filename"), part.get("file_data"), part.get("file_id")
    if isinstance(data, str):
        return {"type": "file", "file": {"file_data": data, "filename": name or _UNNAMED_FILE}}
    if isinstance(known, str):
        return {"type": "file", "file": {"file_id": known}}
    return _text(" ".join(_words("[input_file]", name, part.get("file_url"))))


def _document(part: ContentPart) -> list[Mapping[str, Json]]:
    source, named = part.get("source"), words_about(part)
    url = _url(source)
    if isinstance(source, Mapping) and source.get("type") == "base64" and url:
        about = [_text(words) for words in _words(part.get("context"))]
        return [*about, {"type": "file", "file": {"file_data": url, "filename": part.get("title") or _UNNAMED_FILE}}]
    held = [made for one in held_in(part) or () for made in chat_parts(one) if made.get("text") != ""]
    if not held:
        return [_text(" ".join(["[document]", *named, *_words(url)]))]
    return [_text("\n".join(["[document]", *named])), *held] if named else held


def _text(words: str) -> Mapping[str, Json]:
    return {"type": "text", "text": words}


def _words(*values: Json) -> list[str]:
    return [value for value in values if isinstance(value, str) and value]


def _url(source: Json) -> str | None:
    if not isinstance(source, Mapping):
        return None
    if source.get("type") == "base64":
        kind, data = source.get("media_type"), source.get("data")
        return f"data:{kind};base64,{data}" if _words(kind) and _words(data) else None
    url = source.get("url")
    return url if isinstance(url, str) else None
