"""The view that a read returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from durable_memory.memory.types.answers import JsonForm
from durable_memory.memory.types.brief import brief
from durable_memory.memory.types.chat_anthropic import anthropic_request
from durable_memory.memory.types.chat_openai import openai_messages
from durable_memory.memory.types.chat_responses import openai_responses_items
from durable_memory.memory.types.message import Message
from durable_memory.memory.types.message_input import MessageInput, as_messages


@dataclass(frozen=True, slots=True)
class Omitted(JsonForm):
    """What was evicted and waits for its summary: in no view, not lost."""

    messages: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class View(JsonForm):
    """What a read returns.

    messages: whole groups in the order of the view: system, long_term, user-defined sections, short_term. tokens: their
    sum, never above the budget asked for. version: opaque, for `write(if_version=…)` and `read(since_version=…)`;
    `absent` if there is no such memory. omitted: what waits for its summary. flush_due: whether the background flush is
    due.
    """

    messages: tuple[Message, ...]
    tokens: int
    version: str
    omitted: Omitted = Omitted()
    flush_due: bool = False

    __repr__ = brief

    def to_openai(self, *, system: str | None = None, turn: MessageInput | Sequence[MessageInput] = ()) -> list[Any]:
        """Returns the messages of a chat-completions request, summaries as system messages.

        For `client.chat.completions.create(messages=view.to_openai(), …)`; see openai_messages.
        Its items are dicts, which no type says, so that OpenAI's own types take them.

        system, turn: no part of the memory, nor of its budget. system: your own prompt, which comes first. turn: what
        was said since the read and is not recorded yet, in any form that `append` takes; it comes last: the question,
        the model's calls and their results so far. Raises InvalidValue.
        """
        return openai_messages((*self.messages, *as_messages(turn, "turn")), system)

    def to_openai_responses(
        self, *, system: str | None = None, turn: MessageInput | Sequence[MessageInput] = ()
    ) -> list[Any]:
        """Returns the items of a Responses request, summaries as system messages.

        For `client.responses.create(input=view.to_openai_responses(), …)`; see openai_responses_items. system,
        turn: as in to_openai.
        """
        return openai_responses_items((*self.messages, *as_messages(turn, "turn")), system)

    def to_anthropic(
        self, *, system: str | None = None, turn: MessageInput | Sequence[MessageInput] = ()
    ) -> dict[str, Any]:
        """Returns `system`, with the summaries, and `messages` of a Messages API request.

        For `client.messages.create(**view.to_anthropic(), …)`; see anthropic_request. system, turn: as in
        to_openai.
        """
        return anthropic_request((*self.messages, *as_messages(turn, "turn")), system)
