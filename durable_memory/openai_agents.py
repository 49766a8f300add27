"""A session of the OpenAI Agents SDK that is a memory: `Runner.run(agent, text, session=MemorySession(memory))`.

It works in a Temporal workflow, where the SDK's own sessions do not, and in any process. It imports nothing of the SDK.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from durable_memory.memory.types import (
    SHORT_TERM,
    AppendResult,
    ClearResult,
    DeleteResult,
    MemoryRef,
    Message,
    View,
    messages_from_openai_responses,
)
from durable_memory.memory.types.chat_responses import responses_items


class _Handle(Protocol):
    """What a session needs of an AgentMemory or a Memory."""

    @property
    def ref(self) -> MemoryRef: ...

    async def read(
        self, *, limit: int | None = None, max_tokens: int | None = None, sections: Sequence[str] | None = None
    ) -> View: ...

    async def append(self, messages: Sequence[Message]) -> AppendResult: ...

    async def delete(self, ids: Sequence[str]) -> DeleteResult: ...

    async def clear(self, *, confirm: bool = False) -> ClearResult: ...


class MemorySession:
    """A conversation of the OpenAI Agents SDK in a memory, as its protocol `Session` wants it.

    memory: a handle, `AgentMemory` in a workflow, `Memory` elsewhere. max_tokens: of what a run gets of it; without it,
    all that the memory's budget holds. In a workflow each call is an activity, which is applied once. Not for an
    activity: the model of its next attempt would read what the first one left, and say something else. Errors are those
    of the handle.

    A run gets a view: the newest messages that fit, with the summary of older ones as a system message. The reasoning
    of models is not kept.
    """

    def __init__(self, memory: _Handle, *, max_tokens: int | None = None) -> None:
        self._memory = memory
        self._max_tokens = max_tokens
        ref = memory.ref
        self.session_id = f"{ref.resource}/{ref.key}" if ref.key else ref.resource
        self.session_settings: Any = None
        """Settings of the SDK, whose `limit` holds for `get_items` without one."""

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Returns the items of the view.

        limit: at most so many, the newest. A result whose call is not among them is left out.
        """
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        view = await self._memory.read(max_tokens=self._max_tokens, limit=None if limit is None else max(limit, 0))
        items = view.to_openai_responses()
        return items if limit is None else _with_their_calls(items[max(0, len(items) - limit) :])

    async def add_items(self, items: list[Any]) -> None:
        """Appends items, all or none."""
        messages = messages_from_openai_responses(items)
        if messages:
            await self._memory.append(messages)

    async def pop_item(self) -> Any | None:
        """Removes the newest item of the conversation and returns it; None if there is none.

        Tool calls go with their results and with what was said beside them, since a memory keeps them together.
        """
        view = await self._memory.read(sections=[SHORT_TERM])
        for message in reversed(view.messages):
            items = responses_items(message)
            if items:
                await self._memory.delete([str(message.id)])
                return items[-1]
        return None

    async def clear_session(self) -> None:
        """Removes everything, summaries too."""
        await self._memory.clear(confirm=True)


def _with_their_calls(items: list[Any]) -> list[Any]:
    called = {item["call_id"] for item in items if item.get("type") == "function_call"}
    return [item for item in items if item.get("type") != "function_call_output" or item["call_id"] in called]
