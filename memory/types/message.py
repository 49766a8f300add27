"""The message: what agents append and read, in the form of chat completions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from durable_memory.memory.types.brief import brief
from durable_memory.memory.types.clean import (
    InvalidValue,
    Json,
    clean_json,
    clean_text,
    refuse_unknown,
    required_text,
)
from durable_memory.memory.types.tool_call import ToolCall

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Priority: TypeAlias = Literal["low", "normal", "high", "critical"]
Section: TypeAlias = str
"""The name of a part of a memory: a built-in one, or one that the resource declares."""
ContentPart: TypeAlias = Mapping[str, Any]
"""Of JSON values. Not so typed: converters cannot read a type that holds itself, and a workflow could be handed no
message."""

ROLES: Final[tuple[Role, ...]] = get_args(Role)
PRIORITIES: Final[tuple[Priority, ...]] = get_args(Priority)
"""From the lowest, which goes first under the policy `priority`, to the highest."""
SYSTEM: Final[Section] = "system"
LONG_TERM: Final[Section] = "long_term"
SHORT_TERM: Final[Section] = "short_term"
SECTIONS: Final[tuple[Section, ...]] = (SYSTEM, LONG_TERM, SHORT_TERM)
"""The built-in sections, in the order of a view: system messages, summaries, the conversation. User-defined ones stand
before the last."""

STORE_GIVEN: Final = ("id", "tokens", "tokens_estimated", "created_at", "provenance", "truncated_from")
"""Fields that the store fills in, and that are ignored in a message that is appended."""

TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})
"""Types of parts that hold text, by the words of several APIs."""

MEDIA_PARTS: Final = frozenset(
    {"image", "image_url", "input_image", "output_image", "image_generation_call", "computer_screenshot"}
    | {"audio", "audio_url", "input_audio", "output_audio", "video", "video_url", "input_video", "file", "input_file"}
)
"""The same of those that hold a picture, sound or a file."""

_CALLER_GIVEN: Final = ("role", "content", "name", "tool_calls", "tool_call_id", "pinned", "agent", "metadata")
_MESSAGE_KEYS: Final = tuple(sorted((*_CALLER_GIVEN, "priority", "section", *STORE_GIVEN)))
_OF_ANSWERS: Final = ("refusal", "annotations", "audio", "stop_reason")
"""Fields of what a model answered, as its API gives it."""
_PROVENANCE_KEYS: Final = ("workflow_id", "run_id", "activity_id")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a message was written: the Temporal workflow, its run and the activity. Empty outside Temporal."""

    workflow_id: str | None = None
    run_id: str | None = None
    activity_id: str | None = None

    def to_dict(self) -> dict[str, Json]:
        """Returns the fields that are set."""
        values = ((name, getattr(self, name)) for name in _PROVENANCE_KEYS)
        return {name: value for name, value in values if value is not None}


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    `content` is text, typed parts (objects with a `type`; unknown types are kept), or None beside tool calls.
    `priority` says how long a memory with the policy `priority` keeps it: lower ones go first; a tool result goes with
    the message that made its call. The fields from `id` to `provenance` and `truncated_from`, its tokens before a cut,
    are given by the store: they are filled in views and ignored when a message is appended, but for `section`: name one
    there that the resource declares. System messages stand in `system` and results with their call, in any case; a
    summary (`long_term`) that is appended again becomes an ordinary assistant message.

    Raises InvalidValue for values that JSON cannot carry (bytes, sets, NaN), unknown roles and priorities, and a
    message that says nothing.
    """

    role: Role
    content: str | tuple[ContentPart, ...] | None = None
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    pinned: bool = False
    agent: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None
    section: Section | None = None
    tokens: int | None = None
    tokens_estimated: bool = False
    created_at: datetime | None = None
    provenance: Provenance | None = None
    priority: Priority = "normal"
    truncated_from: int | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            given: object = self.role
            known = _NOW_CALLED.get(given) if isinstance(given, str) else None
            hint = f"; write a {given} message as {known!r}" if known else ""
            raise InvalidValue("role", f"must be one of {', '.join(ROLES)}{hint}")
        # Every append waits for this, so only fields that were given are checked: defaults are valid.
        object.__setattr__(self, "content", _clean_content(self.content))
        for attribute in ("name", "tool_call_id", "agent"):
            value = getattr(self, attribute)
            if value is not None:
                object.__setattr__(self, attribute, required_text(value, attribute))
        if self.tool_calls != ():
            given = _list(self.tool_calls, "tool_calls")
            calls = tuple(ToolCall.from_dict(call, f"tool_calls[{i}]") for i, call in enumerate(given))
            object.__setattr__(self, "tool_calls", calls)
        if self.metadata != {}:
            metadata = clean_json(self.metadata, "metadata")
            if not isinstance(metadata, dict):
                raise InvalidValue("metadata", "must be an object")
            object.__setattr__(self, "metadata", metadata)
        if not isinstance(self.pinned, bool):
            raise InvalidValue("pinned", "must be true or false")
        if self.section is not None and not is_section_name(self.section):
            raise InvalidValue("section", "must name a section: 1 to 64 of a-z, 0-9, - and _")
        if self.priority not in PRIORITIES:
            raise InvalidValue("priority", f"must be one of {', '.join(PRIORITIES)}")
        self._check_shape()

    def _check_shape(self) -> None:
        if self.tool_calls and self.role != "assistant":
            raise InvalidValue(
                "tool_calls", f"only an assistant message makes tool calls, not one of the role {self.role}"
            )
        if self.role == "tool" and not self.tool_call_id:
            raise InvalidValue("tool_call_id", "is missing; a tool result names the call it answers")
        if self.tool_call_id is not None and self.role != "tool":
            raise InvalidValue("tool_call_id", f"only a tool message answers a call, not one of the role {self.role}")
        if self.role == "tool":
            if self.content is None:
                raise InvalidValue("content", "is missing; a tool that returned nothing has the result ''")
        elif not self.content and not self.tool_calls:
            needed = "text, parts or tool calls" if self.role == "assistant" else "text or parts"
            raise InvalidValue("content", f"is empty; a message of the role {self.role} needs {needed}")

    @classmethod
    def user(cls, content: str | Sequence[ContentPart], **fields: Any) -> Message:
        """A message of the user."""
        return cls("user", cast("Any", content), **fields)

    @classmethod
    def system(cls, content: str | Sequence[ContentPart], **fields: Any) -> Message:
        """A system message: never evicted, never summarised."""
        return cls("system", cast("Any", content), **fields)

    @classmethod
    def assistant(
        cls, content: str | Sequence[ContentPart] | None = None, *, tool_calls: Sequence[ToolCall] = (), **fields: Any
    ) -> Message:
        """A message of the model; with `tool_calls` it opens a group that the last of their results closes."""
        return cls("assistant", cast("Any", content), tool_calls=cast("Any", tool_calls), **fields)

    @classmethod
    def tool(cls, content: str | Sequence[ContentPart], tool_call_id: str, **fields: Any) -> Message:
        """The result of the tool call `tool_call_id`."""
        return cls("tool", cast("Any", content), tool_call_id=tool_call_id, **fields)

    @property
    def text(self) -> str:
        """The text of the message: the content, or the text of its parts joined by line ends."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(part["text"]) for part in self.content or () if isinstance(part.get("text"), str))

    def to_dict(self) -> dict[str, Json]:
        """Returns the JSON form: a chat-completions dict, and beside it the fields of ours that are set."""
        data = self.given()
        for attribute in ("id", "section", "tokens"):
            value = getattr(self, attribute)
            if value is not None:
                data[attribute] = value
        if self.tokens_estimated:
            data["tokens_estimated"] = True
        if self.created_at is not None:
            data["created_at"] = self.created_at.isoformat()
        if self.provenance is not None:
            data["provenance"] = self.provenance.to_dict()
        if self.truncated_from is not None:
            data["truncated_from"] = self.truncated_from
        return data

    def given(self) -> dict[str, Json]:
        """Returns the JSON form without what the store gives.

        Attempts of one call compare it as text: keep the order of its fields.
        """
        data: dict[str, Json] = {
            "role": self.role,
            "content": list(self.content) if isinstance(self.content, tuple) else self.content,
        }
        if self.name is not None:
            data["name"] = self.name
        if self.tool_calls:
            data["tool_calls"] = [call.to_dict() for call in self.tool_calls]
        if self.tool_call_id is not None:
            data["tool_call_id"] = self.tool_call_id
        if self.agent is not None:
            data["agent"] = self.agent
        if self.pinned:
            data["pinned"] = True
        if self.metadata:
            data["metadata"] = dict(self.metadata)
        if self.priority != "normal":
            data["priority"] = self.priority
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], path: str = "message") -> Message:
        """Reads the JSON form.

        Raises InvalidValue that names the field under `path`, with a near miss for an unknown one.
        """
        if not isinstance(data, Mapping):
            raise InvalidValue(path, f"must be an object, not {type(data).__name__}")
        _refuse_answer(data, path)
        refuse_unknown(data, _MESSAGE_KEYS, path, "a message")
        if "role" not in data:
            raise InvalidValue(f"{path}.role", f"is missing; one of {', '.join(ROLES)}")
        fields = dict(data)
        fields["tool_calls"] = tuple(
            ToolCall.from_dict(call, f"{path}.tool_calls[{i}]")
            for i, call in enumerate(_list(data.get("tool_calls"), f"{path}.tool_calls"))
        )
        if data.get("metadata") is None:
            fields["metadata"] = {}
        if isinstance(fields.get("created_at"), str):
            fields["created_at"] = _instant(fields["created_at"], f"{path}.created_at")
        given = data.get("provenance")
        fields["provenance"] = Provenance(*map(given.get, _PROVENANCE_KEYS)) if isinstance(given, Mapping) else None
        try:
            return cls(**fields)
        except InvalidValue as error:
            raise InvalidValue(f"{path}.{error.path}", error.problem) from None

    @classmethod
    def from_answer(cls, data: Mapping[str, Any]) -> Message:
        """Reads the JSON form as a worker wrote it: fields that a newer one adds are ignored."""
        known = {key: value for key, value in data.items() if key in _MESSAGE_KEYS}
        known["tool_calls"] = [
            ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in data.get("tool_calls", ())
        ]
        return cls.from_dict(known)


_NOW_CALLED: Final = {"developer": "system", "function": "tool"}
"""Roles that other APIs know, and ours."""

_TOOL_BLOCKS: Final = frozenset({"tool_use", "tool_result"})
"""As parts they would be calls and results that nobody keeps together, and that models refuse apart."""

_SECTION_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)


def is_section_name(value: object) -> bool:
    """Tells whether a section may be called so: 1 to 64 of a-z, 0-9, - and _, no sign first."""
    return isinstance(value, str) and _SECTION_NAME.fullmatch(value) is not None


def _clean_content(content: object) -> str | tuple[ContentPart, ...] | None:
    if content is None or isinstance(content, str):
        return None if content is None else clean_text(content)
    if (
        isinstance(content, Mapping)
        or not isinstance(content, Sequence)
        or isinstance(content, (bytes, bytearray, memoryview))
    ):
        hint = "; json.dumps makes text of it" if isinstance(content, Mapping) else ""
        raise InvalidValue("content", f"must be text or a list of parts, not {type(content).__name__}{hint}")
    parts: list[ContentPart] = []
    for index, part in enumerate(content):
        path = f"content[{index}]"
        if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
            raise InvalidValue(path, "a part is an object with a 'type'")
        if part["type"] in _TOOL_BLOCKS:
            raise InvalidValue(path, f"a {part['type']} is Anthropic's; messages_from_anthropic reads such messages")
        parts.append(cast("ContentPart", clean_json(part, path)))
    return tuple(parts)


def _refuse_answer(data: Mapping[str, Any], path: str) -> None:
    for name in _OF_ANSWERS:
        if name in data:
            readers = "messages_from_openai and messages_from_anthropic read that"
            raise InvalidValue(f"{path}.{name}", f"is of a model's answer, not of a message; {readers}")


def _list(value: object, path: str) -> Sequence[object]:
    if value is None:
        return ()
    if isinstance(value, (list, tuple)):
        return value
    raise InvalidValue(path, f"must be a list, not {type(value).__name__}")


def _instant(value: str, path: str) -> datetime:
    try:
        instant = datetime.fromisoformat(value)
    except ValueError:
        raise InvalidValue(path, "is not an ISO 8601 time") from None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
