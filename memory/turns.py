"""A turn of a conversation in one memory: recorded once, and found again by a repeated attempt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from durable_memory.memory import telemetry
from durable_memory.memory.caller import Attempt
from durable_memory.memory.codec import decode
from durable_memory.memory.types import MessageInput, Turn
from durable_memory.memory.writing import Writing


async def record_turn(
    writing: Writing, messages: MessageInput | Sequence[MessageInput], attempt: Attempt, call: telemetry.measured
) -> Turn:
    """Appends the messages of a turn as a call that is named already; see Memory.record_turn."""
    admitted = await writing.admit(messages)
    call.records(admitted.messages)
    admitted, result = await writing.append(admitted, "", attempt)
    if result.already_applied:
        first = await writing.services.store.find(writing.id, result.ids)
        return Turn(tuple(map(decode, first)) or admitted.messages, result)
    sent = zip(admitted.messages, result.ids, strict=False)
    return Turn(tuple(replace(message, id=message_id) for message, message_id in sent), result)


async def recorded_turn(writing: Writing, operation_id: str, call: telemetry.measured) -> Turn | None:
    """Returns the turn that an earlier attempt of this operation has recorded, or None; see Memory.recorded_turn."""
    store = writing.services.store
    result = await store.recorded(writing.id, operation_id, writing.limits)
    if result is None:
        return None
    turn = Turn(tuple(map(decode, await store.find(writing.id, result.ids))), result)
    call.records(turn.messages)
    return turn
