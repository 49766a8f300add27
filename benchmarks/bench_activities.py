"""Activities that are measured or stand beside what is: they answer at once, as no model does."""

from __future__ import annotations

from typing import Any

from subjects import Floor
from temporalio import activity

from durable_memory import MemoryRef, Message, current_memory_client

_ANSWER = "It left the depot this morning and will be with you before the evening; the refund is not needed."
_APPENDED = {
    "ids": ["0123456789abcdef-1-0123"],
    "version": "0123456789abcdef:1:0123",
    "tokens": 220,
    "messages": 1,
    "evicted": 0,
    "late": 0,
    "removed": 0,
    "flush_due": False,
    "created": False,
    "already_applied": False,
}


@activity.defn
async def no_op(request: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - the payload of what it is compared with
    """Does nothing, and answers what an append answers."""
    return _APPENDED


class BarePush:
    """Does the least that an append has to do in Redis, with the same payload and answer."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor

    @activity.defn(name="bare_push")
    async def push(self, request: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - the payload, as above
        """Pushes one message in a bare Lua script."""
        await self._floor.append(0)
        return _APPENDED


@activity.defn
async def turn_by_reference(ref: MemoryRef, question: str) -> str:
    """Reads the view, and records question and answer."""
    memory = current_memory_client().memory(ref)
    await memory.read()
    await memory.record_turn([question, Message.assistant(_ANSWER)])
    return _ANSWER


@activity.defn
async def answer_to_view(messages: list[dict[str, Any]], question: str) -> str:  # noqa: ARG001 - what a model would get
    """Answers."""
    return _ANSWER


ACTIVITIES = (turn_by_reference, answer_to_view)
