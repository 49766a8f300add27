"""What a caller may append, turned into messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final, TypeAlias, cast

from durable_memory.memory.types.clean import InvalidValue
from durable_memory.memory.types.message import Message
from durable_memory.memory.types.message_json import STORE_GIVEN
from durable_memory.memory.types.vocabulary import LONG_TERM, SECTIONS, SYSTEM, Section

MessageInput: TypeAlias = str | Message | Mapping[str, Any]
"""What a caller may append: text (a user message), a `Message`, or a chat-completions dict."""

_UNSET: Final[dict[str, Any]] = {**dict.fromkeys((*STORE_GIVEN, "section")), "tokens_estimated": False}
_store_given = attrgetter(*_UNSET)


def as_messages(value: MessageInput | Sequence[MessageInput], name: str = "messages") -> tuple[Message, ...]:
    """Turns what a caller may append into messages, store-given fields removed; a summary becomes an ordinary message.

    name: of the argument. Raises InvalidValue naming the place, e.g. `messages[3].role`.
    """
    items: Sequence[Any] = [value] if isinstance(value, (str, Message, Mapping)) else cast("Sequence[Any]", value)
    if isinstance(items, (bytes, bytearray)) or not isinstance(items, Sequence):
        raise InvalidValue(name, f"must be text, a Message, a dict, or a list of them, not {type(value).__name__}")
    return tuple([_as_message(item, f"{name}[{index}]") for index, item in enumerate(items)])


def _as_message(item: object, path: str) -> Message:
    if isinstance(item, str):
        try:
            return Message("user", item)
        except InvalidValue as error:
            raise InvalidValue(f"{path}.{error.path}", error.problem) from None
    if isinstance(item, Mapping):
        item = Message.from_dict(item, path)
    if not isinstance(item, Message):
        raise InvalidValue(path, f"must be text, a Message or a dict, not {type(item).__name__}")
    if item.section is None:
        return item if _store_given(item) == tuple(_UNSET.values()) else replace(item, **_UNSET)
    if item.section == LONG_TERM and item.role == "system":
        # A summary, of a view or an export. As a system message it would stay for ever, and only a flush writes into
        # long_term.
        return replace(item, **_UNSET, role="assistant")
    return replace(item, **{**_UNSET, "section": _given_section(item, f"{path}.section")})


def _given_section(message: Message, path: str) -> Section | None:
    """Returns the user-defined section that a caller names; None for a built-in one, which follows from the role.

    A message that a view showed has an id, and may be sent back as it is.
    """
    section = message.section
    if message.id is None and section in SECTIONS:
        if section == LONG_TERM:
            raise InvalidValue(path, "is long_term, which only a flush writes; leave it out")
        if (section == SYSTEM) != (message.role == "system"):
            raise InvalidValue(path, f"is {section}, where no message of the role {message.role} stands; leave it out")
    elif message.role == "system" and section not in SECTIONS:
        raise InvalidValue(path, "cannot be chosen for a system message, which stands in system; leave it out")
    return None if section in SECTIONS else section
