"""The message: what agents append and read, in the form of chat completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import NoneType
from typing import Any, Final, cast

from durable_memory.memory.types.brief import brief
from durable_memory.memory.types.clean import InvalidValue, Json, clean_json, clean_text, required_text
from durable_memory.memory.types.message_json import answer_fields, as_list, message_fields
from durable_memory.memory.types.provenance import Provenance
from durable_memory.memory.types.tool_call import ToolCall
from durable_memory.memory.types.vocabulary import (
    PRIORITIES,
    ROLES,
    ContentPart,
    Priority,
    Role,
    Section,
    is_section_name,
)


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
    __hash__ = None  # type: ignore[assignment] # its parts and metadata are dicts, which have no hash

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
            given = as_list(self.tool_calls, "tool_calls")
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
        self._check_store_given()
        self._check_shape()

    def _check_store_given(self) -> None:
        if self.id is not None:
            object.__setattr__(self, "id", required_text(self.id, "id"))
        for attribute in ("tokens", "truncated_from"):
            value = getattr(self, attribute)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
                raise InvalidValue(attribute, f"must be a whole number, not {type(value).__name__}")
        if not isinstance(self.tokens_estimated, bool):
            raise InvalidValue("tokens_estimated", "must be true or false")
        if not isinstance(self.created_at, (datetime, NoneType)):
            raise InvalidValue("created_at", f"must be a time (ISO 8601 in JSON), not {type(self.created_at).__name__}")
        if not isinstance(self.provenance, (Provenance, NoneType)):
            raise InvalidValue("provenance", f"must be an object, not {type(self.provenance).__name__}")

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
        return cls._of("user", content, **fields)

    @classmethod
    def system(cls, content: str | Sequence[ContentPart], **fields: Any) -> Message:
        """A system message: never evicted, never summarised."""
        return cls._of("system", content, **fields)

    @classmethod
    def assistant(
        cls, content: str | Sequence[ContentPart] | None = None, *, tool_calls: Sequence[ToolCall] = (), **fields: Any
    ) -> Message:
        """A message of the model; with `tool_calls` it opens a group that the last of their results closes."""
        return cls._of("assistant", content, tool_calls=tool_calls, **fields)

    @classmethod
    def tool(cls, content: str | Sequence[ContentPart], tool_call_id: str, **fields: Any) -> Message:
        """The result of the tool call `tool_call_id`."""
        return cls._of("tool", content, tool_call_id=tool_call_id, **fields)

    @classmethod
    def _of(cls, role: Role, content: Any, **fields: Any) -> Message:
        """Makes a message of any sequences: the types of the fields are those that they have when they are checked."""
        return cls(role, content, **fields)

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
        fields = message_fields(data, path)
        try:
            return cls(**fields)
        except InvalidValue as error:
            raise InvalidValue(f"{path}.{error.path}", error.problem) from None

    @classmethod
    def from_answer(cls, data: Mapping[str, Any]) -> Message:
        """Reads the JSON form as a worker wrote it: fields that a newer one adds are ignored."""
        return cls.from_dict(answer_fields(data))


_NOW_CALLED: Final = {"developer": "system", "function": "tool"}
"""Roles that other APIs know, and ours."""

_TOOL_BLOCKS: Final = frozenset({"tool_use", "tool_result"})
"""Parts that are refused: they would be calls and results that nobody keeps together, and that models refuse apart."""


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
