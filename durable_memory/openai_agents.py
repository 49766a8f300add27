"""A session of the OpenAI Agents SDK that is a memory: `Runner.run(agent, text, session=MemorySession(memory))`.

It works in a Temporal workflow, where the SDK's own sessions do not, and in any process. It imports nothing of the SDK.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from temporalio import workflow

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
from durable_memory.memory.types.repeated_calls import newest_row

_POPS_WAITING_CALLS: Final = "session-pops-calls-that-wait"
_POPS_AGAIN: Final = "session-pops-until-one-is-removed"
"""Patches of 0.1.0: `pop_item` deleted what the view ended with, and asked neither what waits nor what was deleted."""


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
        self._waiting: list[_WaitingCalls] = []

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Returns the items of the view, calls by the ids that they were added with.

        limit: at most so many, the newest. A result whose call is not among them is left out.
        """
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        view = await self._memory.read(max_tokens=self._max_tokens, limit=None if limit is None else max(limit, 0))
        items = [item for message in view.messages for item in responses_items(message)]
        return items if limit is None else _with_their_calls(items[max(0, len(items) - limit) :])

    async def add_items(self, items: list[Any]) -> None:
        """Appends items, all or none."""
        messages = messages_from_openai_responses(items)
        if messages:
            result = await self._memory.append(messages)
            if not result.dropped:  # or nobody knows which of the ids are whose
                self._note_calls(messages, result.ids)

    async def pop_item(self) -> Any | None:
        """Removes the newest item of the conversation and returns it; None if there is none.

        Tool calls go with their results and with what was said beside them, since a memory keeps them together. Those
        that still wait for results are in no view: only the session that added them knows them, and pops them.
        """
        while True:
            newest = self._newest(await self._memory.read(sections=[SHORT_TERM]))
            if newest is None:
                return None
            message_id, item = newest
            deleted = await self._memory.delete([message_id])
            self._waiting = [calls for calls in self._waiting if calls.newest_id != message_id]
            # Another one may have removed or summarised it since it was read.
            if message_id in deleted.removed or not _is_new_way(_POPS_AGAIN):
                return item

    async def clear_session(self) -> None:
        """Removes everything, summaries too."""
        await self._memory.clear(confirm=True)
        self._waiting = []

    def _note_calls(self, messages: Sequence[Message], ids: Sequence[str]) -> None:
        """Notes the calls that were added and have no result yet, which no view shows."""
        before, added = self._waiting, list[_WaitingCalls]()
        for message, message_id in zip(messages, ids, strict=False):
            if message.tool_calls:
                calls = [call.id for call in message.tool_calls]
                added.append(_WaitingCalls(message_id, calls, message_id, responses_items(message)[-1]))
            elif (call := message.tool_call_id) is not None and (waiting := _answered(call, before, added)):
                waiting.calls.remove(call)
                waiting.newest_id, waiting.newest = message_id, responses_items(message)[-1]
        self._waiting = [waiting for waiting in (*before, *added) if waiting.calls]

    def _newest(self, view: View) -> tuple[str, Any] | None:
        """Returns the id of the newest message and its last item; of those in the view and of calls that wait."""
        shown_ids = {message.id for message in view.messages}
        self._waiting = [waiting for waiting in self._waiting if waiting.id not in shown_ids]
        items = ((str(message.id), responses_items(message)) for message in reversed(view.messages))
        shown = next(((message_id, held[-1]) for message_id, held in items if held), None)
        hidden = max(self._waiting, key=lambda waiting: _number(waiting.newest_id), default=None)
        if hidden is None or (shown is not None and _number(shown[0]) > _number(hidden.newest_id)):
            return shown
        return (hidden.newest_id, hidden.newest) if _is_new_way(_POPS_WAITING_CALLS) else shown


@dataclass
class _WaitingCalls:
    """A message with tool calls that have no result yet. calls: their ids; newest: the last item that belongs to it."""

    id: str
    calls: list[str]
    newest_id: str
    newest: Any


def _answered(call: str, before: list[_WaitingCalls], added: list[_WaitingCalls]) -> _WaitingCalls | None:
    """Returns the message whose call a result answers, as stores pair them: first of all one of the same append."""
    own = [waiting for waiting in added if call in waiting.calls]
    if own:
        return own[0]
    others = [waiting for waiting in before if call in waiting.calls]
    return others[newest_row([_number(waiting.id) for waiting in others])] if others else None


def _number(message_id: str) -> int:
    """Returns which message of its memory it is: ids are `<incarnation>-<number>-<tag>`.

    Those of an earlier incarnation are taken for newer than they are. No delete finds them, and they are forgotten.
    """
    return int(message_id.split("-")[1])


def _is_new_way(patch: str) -> bool:
    return not workflow.in_workflow() or workflow.patched(patch)


def _with_their_calls(items: list[Any]) -> list[Any]:
    waiting = Counter[str]()  # ids may come again
    kept = []
    for item in items:
        kind = item.get("type")
        if kind == "function_call":
            waiting[item["call_id"]] += 1
        elif kind == "function_call_output":
            if not waiting[item["call_id"]]:
                continue
            waiting[item["call_id"]] -= 1
        kept.append(item)
    return kept
