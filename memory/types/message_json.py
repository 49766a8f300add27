"""Reads the JSON form of a message: the fields of a `Message`, which checks their values itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from durable_memory.memory.types.clean import InvalidValue, refuse_unknown, required_text
from durable_memory.memory.types.provenance import PROVENANCE_FIELDS, Provenance
from durable_memory.memory.types.tool_call import ToolCall
from durable_memory.memory.types.vocabulary import ROLES

STORE_GIVEN: Final = ("id", "tokens", "tokens_estimated", "created_at", "provenance", "truncated_from")
"""Fields that the store fills in; in a message that is appended they are checked, and ignored."""

_CALLER_GIVEN: Final = ("role", "content", "name", "tool_calls", "tool_call_id", "pinned", "agent", "metadata")
_MESSAGE_KEYS: Final = tuple(sorted((*_CALLER_GIVEN, "priority", "section", *STORE_GIVEN)))
_OF_ANSWERS: Final = ("refusal", "annotations", "audio", "stop_reason")
"""Fields of what a model answered, as its API gives it."""


def message_fields(data: object, path: str) -> dict[str, Any]:
    """Returns the fields of a message that a caller wrote as JSON. Raises InvalidValue that names one under `path`."""
    if not isinstance(data, Mapping):
        raise InvalidValue(path, f"must be an object, not {type(data).__name__}")
    _refuse_answer(data, path)
    refuse_unknown(data, _MESSAGE_KEYS, path, "a message")
    if "role" not in data:
        raise InvalidValue(f"{path}.role", f"is missing; one of {', '.join(ROLES)}")
    fields = dict(data)
    fields["tool_calls"] = tuple(
        ToolCall.from_dict(call, f"{path}.tool_calls[{i}]")
        for i, call in enumerate(as_list(data.get("tool_calls"), f"{path}.tool_calls"))
    )
    if data.get("metadata") is None:
        fields["metadata"] = {}
    if isinstance(data.get("created_at"), str):
        fields["created_at"] = _instant(data["created_at"], f"{path}.created_at")
    if isinstance(data.get("provenance"), Mapping):
        fields["provenance"] = _provenance(data["provenance"], f"{path}.provenance")
    return fields


def answer_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the JSON form of a message as a worker wrote it, without the fields that a newer one adds."""
    known = {key: value for key, value in data.items() if key in _MESSAGE_KEYS}
    known["tool_calls"] = [
        ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in data.get("tool_calls", ())
    ]
    return known


def as_list(value: object, path: str) -> Sequence[object]:
    """Returns what must be a list; an empty one for None. Raises InvalidValue."""
    if value is None:
        return ()
    if isinstance(value, (list, tuple)):
        return value
    raise InvalidValue(path, f"must be a list, not {type(value).__name__}")


def _refuse_answer(data: Mapping[str, Any], path: str) -> None:
    for name in _OF_ANSWERS:
        if name in data:
            readers = "messages_from_openai and messages_from_anthropic read that"
            raise InvalidValue(f"{path}.{name}", f"is of a model's answer, not of a message; {readers}")


def _instant(value: str, path: str) -> datetime:
    try:
        instant = datetime.fromisoformat(value)
    except ValueError:
        raise InvalidValue(path, "is not an ISO 8601 time") from None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def _provenance(data: Mapping[str, Any], path: str) -> Provenance:
    """Reads where a message was written. A newer worker may say more of it."""
    given = {name: data[name] for name in PROVENANCE_FIELDS if data.get(name) is not None}
    return Provenance(**{name: required_text(value, f"{path}.{name}") for name, value in given.items()})
