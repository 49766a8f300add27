"""The tool call: what an assistant message asks of a tool, and what the tool's result refers to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from durable_memory.memory.types.clean import InvalidValue, Json, clean_json, refuse_unknown, required_text

_CALL_KEYS: Final = ("id", "type", "function", "index")
"""`index` is what is left of a streamed answer."""
_FUNCTION_KEYS: Final = ("name", "arguments")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call of an assistant message. `arguments` is the JSON text that the model wrote, kept as it is."""

    id: str
    name: str
    arguments: str = "{}"

    def __post_init__(self) -> None:
        if isinstance(self.arguments, Mapping):
            raise InvalidValue("tool_calls.arguments", "must be JSON text, as the model wrote it; json.dumps makes it")
        for attribute in ("id", "name", "arguments"):
            object.__setattr__(self, attribute, required_text(getattr(self, attribute), f"tool_calls.{attribute}"))
        if not self.id:
            raise InvalidValue("tool_calls.id", "must not be empty, since results refer to it")

    def to_dict(self) -> dict[str, Json]:
        """Returns the chat-completions form."""
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}

    @classmethod
    def from_dict(cls, data: object, path: str = "tool_calls[0]") -> ToolCall:
        """Reads the chat-completions form; arguments given as an object become JSON text."""
        if isinstance(data, ToolCall):
            return data
        if not isinstance(data, Mapping):
            raise InvalidValue(path, f"must be an object, not {type(data).__name__}")
        refuse_unknown(data, _CALL_KEYS, path, "a tool call")
        function = data.get("function")
        if not isinstance(function, Mapping):
            raise InvalidValue(
                f"{path}.function", "is missing; a tool call is {id, type: function, function: {name, arguments}}"
            )
        if data.get("type", "function") != "function":
            raise InvalidValue(f"{path}.type", "must be 'function'")
        refuse_unknown(function, _FUNCTION_KEYS, f"{path}.function", "a function")
        arguments = function.get("arguments", "{}")
        if not isinstance(arguments, str):
            arguments = json.dumps(clean_json(arguments, f"{path}.function.arguments"), ensure_ascii=False)
        call_id = required_text(data.get("id"), f"{path}.id")
        name = required_text(function.get("name"), f"{path}.function.name")
        try:
            return cls(call_id, name, arguments)
        except InvalidValue as error:
            raise InvalidValue(f"{path}.{error.path.removeprefix('tool_calls.')}", error.problem) from None
