"""What programs give beside a view: a message as the SDK of a provider has it, and a prompt of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from durable_memory.memory.types.clean import InvalidValue
from durable_memory.memory.types.message import Message


@runtime_checkable
class SdkModel(Protocol):
    """An object of OpenAI's or Anthropic's SDK."""

    def model_dump(
        self, *, exclude_unset: bool = False, by_alias: bool | None = None, warnings: bool = True
    ) -> dict[str, Any]:
        """Returns it as a dict.

        exclude_unset: without what the API did not send. by_alias: with the API's names, where Python's differ.
        warnings: about values of other types than declared, as what the SDK itself has parsed.
        """
        ...


ChatMessage = Mapping[str, Any] | SdkModel


def given_message(data: ChatMessage) -> Mapping[str, Any]:
    """Returns a message as an object. Raises InvalidValue for what is none."""
    found = data.model_dump(by_alias=True, warnings=False) if isinstance(data, SdkModel) else data
    if not isinstance(found, Mapping):
        raise InvalidValue("message", f"must be one message, a dict or an object of the SDK, not {type(data).__name__}")
    if "choices" in found:
        raise InvalidValue("message", "is a whole completion; its message is `choices[0].message`")
    return found


def own_prompt(system: str | None) -> tuple[Message, ...]:
    """Returns a system prompt as the message that comes first, if there is any. Raises InvalidValue."""
    given: object = system
    if given is None or given == "":
        return ()
    if not isinstance(given, str):
        raise InvalidValue("system", f"must be text, not {type(given).__name__}")
    return (Message.system(given),)
