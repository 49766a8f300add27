"""Messages as Anthropic's Messages API takes and gives them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from durable_memory.memory.types.call_ids import CallIds
from durable_memory.memory.types.chat_given import ChatMessage, given_message, own_prompt
from durable_memory.memory.types.chat_marks import unmarked
from durable_memory.memory.types.chat_words import FAILED, mention
from durable_memory.memory.types.clean import InvalidValue, Json, clean_json
from durable_memory.memory.types.message import Message
from durable_memory.memory.types.server_tools import is_of_an_answer, leave_out_lost_callers, name_unpaired
from durable_memory.memory.types.tool_call import ToolCall
from durable_memory.memory.types.vocabulary import TEXT_PARTS, THOUGHTS, ContentPart

Block = dict[str, Json]

_DATA_URL: Final = re.compile(r"data:([^;,]+)(?:;[^;,]+)*;base64,(.*)", re.DOTALL | re.IGNORECASE)
_OF_OTHERS: Final = frozenset({"image_url", "input_image", "input_audio", "file", "input_file", "audio", "video"})
"""What users may send to OpenAI or elsewhere, and not here unless something equals it: this API refuses the whole
request for one."""
_OF_USERS: Final = frozenset({"image", "document", "search_result"})
"""Blocks that the API takes from nobody else."""
_PICTURES: Final = {"image/jpg": "image/jpeg"} | {
    kind: kind for kind in ("image/jpeg", "image/png", "image/gif", "image/webp")
}
"""Types of pictures that the API takes, by the names that they are given."""
_PDF: Final = "application/pdf"
_PDF_BEGINS: Final = "JVBERi"
"""In Base64, which OpenAI takes without a type beside it."""
_NOT_IN_IDS: Final = re.compile(r"[^a-zA-Z0-9_-]")
"""Nor in the names of tools."""
_LONGEST_NAME: Final = 128
_UNNAMED: Final = "unnamed"
"""Stands for the name that a model left out of a call: the API refuses the whole request for an empty one."""
_FAILED: Final[Block] = {"type": "text", "text": FAILED}
"""The API wants words beside `is_error`."""
_CALLERS: Final = "anthropic_callers"
"""Field of a message's metadata: by the id of a call, which program of the service made it, which the API wants to have
back."""
_EARLIER: Final[Block] = {"type": "text", "text": "[Earlier messages are not shown.]"}
"""Opens a conversation that begins with the assistant: the API wants the user first."""


def anthropic_request(messages: Iterable[Message], system: str | None = None) -> dict[str, Any]:
    """Returns `system` (if there is any) and `messages` of a Messages API request, for `messages.create(**…)`.

    system: a prompt of your own, which comes first.

    System messages, summaries among them, become blocks of the system text; what is no text in them is replaced by its
    type in brackets. Tool calls and results become tool_use and tool_result blocks, their ids and names such as the API
    accepts: no two ids the same. Messages that follow each other in one role are merged, blank texts left out. Parts of
    OpenAI's become Anthropic's where there is an equal, and their type in brackets where not; others are passed on as
    they are, but without marks of a cache (`cache_control`), also inside of them: mark what you send. Pictures and
    files of an answer, and half of a pair of call and result of the service's own tools, become their type in brackets
    too; thoughts that nothing follows are left out. Names of authors have no place.

    Raises InvalidValue if `system` is no text.
    """
    prompt: list[Block] = []
    turns: list[dict[str, Any]] = []
    ids = CallIds(_accepted_id)
    for message in (*own_prompt(system), *messages):
        blocks = _blocks(message, ids)
        if message.role == "system":
            prompt += [block if block["type"] == "text" else mention(block) for block in blocks]
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if blocks and turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    name_unpaired(turns)
    leave_out_lost_callers(turns)
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [dict(_EARLIER)]})
    return {"system": prompt, "messages": turns} if prompt else {"messages": turns}


def messages_from_anthropic(data: ChatMessage) -> tuple[Message, ...]:
    """Reads a message of the Messages API, of a request or a response.

    An answer of the model is one message; thoughts and other blocks are kept as parts, but no `cache_control`. A user's
    message with tool results is one message for each result, and one for the rest. Raises InvalidValue.
    """
    data = given_message(data)
    content = data.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks = _blocks_of(content)
    match data.get("role"):
        case "assistant":
            _refuse(blocks, "tool_result", "stands in a message of the role user, not assistant")
            uses = [block for block in blocks if block["type"] == "tool_use"]
            said = _said([block for block in blocks if block["type"] != "tool_use"])
            calls = [_call(block) for block in uses]
            made_by = zip(calls, (block.get("caller") for block in uses), strict=True)
            callers = {call.id: caller for call, caller in made_by if _is_program(caller)}
            return (Message.assistant(said or None, tool_calls=calls, metadata={_CALLERS: callers} if callers else {}),)
        case "user":
            _refuse(blocks, "tool_use", "stands in a message of the role assistant, not user")
            results = [_result(block) for block in blocks if block["type"] == "tool_result"]
            rest = [block for block in blocks if block["type"] != "tool_result"]
            return (*results, Message.user(_said(rest))) if rest or not results else tuple(results)
        case "system":
            _refuse(blocks, "tool_use", "stands in a message of the role assistant, not system")
            _refuse(blocks, "tool_result", "stands in a message of the role user, not system")
            return (Message.system(_said(blocks)),)
    raise InvalidValue("role", "must be one of user, assistant, system")


def _refuse(blocks: Sequence[Mapping[str, Any]], kind: str, problem: str) -> None:
    for index, block in enumerate(blocks):
        if block["type"] == kind:
            raise InvalidValue(f"content[{index}]", f"a {kind} {problem}")


def _accepted_id(call_id: str) -> str:
    return _NOT_IN_IDS.sub("_", call_id)


def _blocks(message: Message, ids: CallIds) -> list[Block]:
    said = [{"type": "text", "text": message.content}] if isinstance(message.content, str) else message.content or ()
    blocks = [block for part in said if not _is_blank(block := _block(unmarked(part)))]
    if message.tool_call_id is not None:
        result: Block = {"type": "tool_result", "tool_use_id": ids.of_result(message.tool_call_id)}
        failed = message.metadata.get("is_error") is True
        if blocks or failed:
            result["content"] = blocks or [dict(_FAILED)]
        if failed:
            result["is_error"] = True
        return [result]
    if message.role != "assistant":
        return [mention(block) if is_of_an_answer(block) else block for block in blocks]
    answered = [mention(block) if block["type"] in _OF_USERS else block for block in blocks]
    found = message.metadata.get(_CALLERS)
    callers = found if isinstance(found, Mapping) else {}
    uses = [_use(call, ids, callers.get(call.id)) for call in message.tool_calls]
    return _without_last_thoughts([*answered, *uses])


def _without_last_thoughts(blocks: list[Block]) -> list[Block]:
    """Leaves out thoughts that lead to nothing, as of an answer that was cut off: the API refuses them at the end."""
    while blocks and blocks[-1]["type"] in THOUGHTS:
        blocks = blocks[:-1]
    return blocks


def _use(call: ToolCall, ids: CallIds, caller: Json) -> Block:
    name = _NOT_IN_IDS.sub("_", call.name)[:_LONGEST_NAME] or _UNNAMED
    use: Block = {"type": "tool_use", "id": ids.of_call(call.id), "name": name, "input": _input(call.arguments)}
    return {**use, "caller": caller} if _is_program(caller) else use


def _is_program(caller: object) -> bool:
    """Tells whether a call was made by a program that the service runs, and not by the model itself."""
    return isinstance(caller, Mapping) and isinstance(caller.get("tool_id"), str)


def _is_blank(block: Block) -> bool:
    return block["type"] == "text" and not str(block.get("text") or "").strip()


def _block(part: ContentPart) -> Block:
    kind = part["type"]
    inner = part.get(str(kind))
    named: Mapping[str, Json] = inner if isinstance(inner, Mapping) else {}
    if kind == "refusal":
        return mention(part)
    if kind in TEXT_PARTS:
        return {"type": "text", "text": str(part.get("text") or ""), **_citations(part)}
    if kind in ("image_url", "input_image") and isinstance(url := _link_of(part.get("image_url")), str):
        return _picture(part, url)
    if kind in ("file", "input_file") and (source := _source_of(held := named or part)):
        name = held.get("filename")
        title = {"title": name} if name and isinstance(name, str) else {}
        return {"type": "document", "source": source, **title}
    return mention(part) if kind in _OF_OTHERS else dict(part)


def _citations(part: ContentPart) -> Block:
    """What a text cites. The API tells the id of a file there, and takes none."""
    given = part.get("citations") if part["type"] == "text" else None
    cited = [one for one in given if isinstance(one, Mapping)] if isinstance(given, (list, tuple)) else []
    bare = [{name: value for name, value in one.items() if name != "file_id"} for one in cited]
    return {"citations": bare} if bare else {}


def _picture(part: ContentPart, url: str) -> Block:
    data = _DATA_URL.fullmatch(url)
    if data and (kind := _PICTURES.get(data[1].lower())):
        return {"type": "image", "source": {**_base64(data), "media_type": kind}}
    if url.lower().startswith("https:"):
        return {"type": "image", "source": {"type": "url", "url": url}}
    # The API fetches nothing else; data of other types would only be read as a very long link.
    return mention(part) if url.lower().startswith("data:") else {"type": "text", "text": f"[{part['type']}] {url}"}


def _link_of(picture: Json) -> Json:
    """Returns the link of a picture: an object has it in chat completions, in OpenAI's Responses it is text."""
    return picture.get("url") if isinstance(picture, Mapping) else picture


def _source_of(file: Mapping[str, Json]) -> Block | None:
    """Returns the source of a document, if the file is a PDF: the API takes no others so."""
    held, url = str(file.get("file_data")), file.get("file_url")
    if (data := _DATA_URL.fullmatch(held)) and data[1].lower() == _PDF:
        return _base64(data)
    if held.startswith(_PDF_BEGINS):
        return {"type": "base64", "media_type": _PDF, "data": held}
    return {"type": "url", "url": url} if isinstance(url, str) else None


def _base64(data: re.Match[str]) -> Block:
    return {"type": "base64", "media_type": data[1].lower(), "data": data[2]}


def _input(arguments: str) -> dict[str, Json]:
    """The arguments of a call as the object that the API wants; a model may have written something else."""
    try:
        # What is valid JSON text may still be no value to send: escapes of half a surrogate pair, 1e999, NaN.
        value = clean_json(json.loads(arguments or "{}"), "arguments")
    except (ValueError, RecursionError):
        value = arguments
    return dict(value) if isinstance(value, Mapping) else {"arguments": value}


def _blocks_of(content: object) -> list[dict[str, Any]]:
    if not isinstance(content, Sequence) or isinstance(content, (bytes, bytearray)):
        raise InvalidValue("content", f"must be text or a list of blocks, not {type(content).__name__}")
    return [_given(block, f"content[{index}]") for index, block in enumerate(content)]


def _given(block: object, path: str) -> dict[str, Any]:
    """A block without the fields that are null: the SDK's objects fill in all that they know."""
    if not isinstance(block, Mapping) or not isinstance(block.get("type"), str):
        raise InvalidValue(path, "a block is an object with a 'type'")
    return {name: value for name, value in unmarked(block).items() if value is not None}


def _call(block: Mapping[str, Any]) -> ToolCall:
    given = clean_json(block.get("input", {}), "input")
    return ToolCall(block.get("id", ""), block.get("name", ""), json.dumps(given, ensure_ascii=False))


def _result(block: Mapping[str, Any]) -> Message:
    content = block.get("content") or ""
    if not isinstance(content, str):
        held = _blocks_of(content)
        for kind in ("tool_use", "tool_result"):
            _refuse(held, kind, "stands in a message of its own, not in the content of a tool_result")
        content = _said(held)
    failed = {"is_error": True} if block.get("is_error") else {}
    return Message.tool(content, block.get("tool_use_id", ""), metadata=failed)


def _said(blocks: Sequence[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Text where it is nothing else, which every model and summariser reads; else parts."""
    plain = (block.keys() == {"type", "text"} and block["type"] == "text" for block in blocks)
    if all(plain) and all(isinstance(block["text"], str) for block in blocks):
        return "\n".join(block["text"] for block in blocks)
    return list(blocks)
