"""What the memories of an agent answer together: the context of a model call, and a turn written back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from durable_memory.memory.types.answers import JsonForm
from durable_memory.memory.types.chat_anthropic import anthropic_request
from durable_memory.memory.types.chat_openai import openai_messages
from durable_memory.memory.types.chat_responses import openai_responses_items
from durable_memory.memory.types.message import Message
from durable_memory.memory.types.message_input import MessageInput, as_messages
from durable_memory.memory.types.results import AppendResult
from durable_memory.memory.types.view import Omitted


@dataclass(frozen=True, slots=True)
class ContextMemory(JsonForm):
    """One memory in a context.

    version: of the view that was taken; `absent` if there is no such memory yet. tokens: what it fills in the context,
    its label included. messages: how many stored messages it shows. omitted: what waits for its summary.
    """

    resource: str
    label: str
    version: str
    tokens: int
    messages: int
    omitted: Omitted


@dataclass(frozen=True, slots=True)
class AgentContext(JsonForm):
    """The memories of an agent, composed for one model call.

    messages: a system message of ours, then each memory under its label, in the order of the declaration. What a memory
    holds as system text or summary is quoted in the message with the label; its conversation stands as it is, in whole
    groups. tokens: of all messages, never above the budget asked for. memories: each one's part, also an empty one's.
    """

    messages: tuple[Message, ...]
    tokens: int
    memories: tuple[ContextMemory, ...]

    def to_openai(self, *, system: str | None = None, turn: MessageInput | Sequence[MessageInput] = ()) -> list[Any]:
        """Returns the messages of a chat-completions request. system, turn: as those of a View."""
        return openai_messages((*self.messages, *as_messages(turn, "turn")), system)

    def to_openai_responses(
        self, *, system: str | None = None, turn: MessageInput | Sequence[MessageInput] = ()
    ) -> list[Any]:
        """Returns the items of a Responses request. system, turn: as those of a View."""
        return openai_responses_items((*self.messages, *as_messages(turn, "turn")), system)

    def to_anthropic(
        self, *, system: str | None = None, turn: MessageInput | Sequence[MessageInput] = ()
    ) -> dict[str, Any]:
        """Returns `system` and `messages` of a Messages API request. system, turn: as those of a View."""
        return anthropic_request((*self.messages, *as_messages(turn, "turn")), system)


@dataclass(frozen=True, slots=True)
class MemoryTurn:
    """What became of a turn in one memory."""

    resource: str
    result: AppendResult


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """A turn written back: the messages that stand, and one result for each memory that takes the agent's turns."""

    messages: tuple[Message, ...]
    turns: tuple[MemoryTurn, ...]
