"""The request types of the SDKs, as judges: strict about what they do not know, and about all that is inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from anthropic.types import MessageParam, TextBlockParam
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import BaseModel, TypeAdapter

_OPENAI: TypeAdapter[list[ChatCompletionMessageParam]] = TypeAdapter(list[ChatCompletionMessageParam])
_RESPONSES: TypeAdapter[list[ResponseInputItemParam]] = TypeAdapter(list[ResponseInputItemParam])
_TURNS: TypeAdapter[list[MessageParam]] = TypeAdapter(list[MessageParam])
_SYSTEM: TypeAdapter[list[TextBlockParam]] = TypeAdapter(list[TextBlockParam])


def check_openai(messages: Iterable[ChatCompletionMessageParam]) -> None:
    """Fails unless these are the messages of a chat-completions request."""
    _check(_OPENAI, messages)


def check_responses(items: Iterable[ResponseInputItemParam]) -> None:
    """Fails unless these are the input of a Responses request."""
    _check(_RESPONSES, items)


def check_anthropic(request: Mapping[str, Any]) -> None:
    """Fails unless this is the system text and the messages of a Messages API request."""
    assert request.keys() <= {"system", "messages"}
    _check(_TURNS, request["messages"])
    _check(_SYSTEM, request.get("system", []))


def _check(adapter: TypeAdapter[Any], value: object) -> None:
    # A typed dict drops what it does not know, so what comes out must be what went in.
    assert _whole(adapter.validate_python(value, strict=True)) == value


def _whole(value: Any) -> Any:
    """Iterables are validated while they are read; blocks of Anthropic's answers are taken as objects, too."""
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_unset=True)
    if isinstance(value, Mapping):
        return {name: _whole(item) for name, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, (list, Iterator)) else value
