"""A turn of a conversation in one memory: recorded once, and found again by a repeated attempt."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from durable_memory.memory import telemetry
from durable_memory.memory.access import allows
from durable_memory.memory.caller import Attempt, is_given
from durable_memory.memory.codec import decode
from durable_memory.memory.errors import MemoryBackpressure, MemoryOversize
from durable_memory.memory.operations.repeated_append import is_stored_form
from durable_memory.memory.operations.writer import MemoryWriter
from durable_memory.memory.stores.values import KEPT_AFTER_DEADLINE_MS, Entry, Operation
from durable_memory.memory.types import SHORT_TERM, Message, MessageInput, Turn

_log = logging.getLogger(__name__)

_TURNS_IN_A_ROOM: Final = 4
"""A turn of ordinary size fills a quarter of what messages may fill; where only their number counts, it is one."""

_ANOTHER_IN_ITS_PLACE: Final = (
    "a turn was not recorded, since an earlier attempt recorded another one in its place; pass operation_id to "
    "record_turn where attempts of an activity may record other turns, or record them in another order"
)
_ANOTHER_OF_THIS_NAME: Final = (
    "a turn was not recorded, since another one was recorded in this memory under its operation_id, maybe by another "
    "workflow; begin the id with what is the caller's own, as the id of its workflow, or leave it out"
)


async def record_turn(
    writer: MemoryWriter,
    messages: MessageInput | Sequence[MessageInput],
    attempt: Attempt,
    call: telemetry.MeasuredCall,
) -> Turn:
    """Appends the messages of a turn as a call that is named already; see Memory.record_turn."""
    admitted = await writer.admit(messages)
    call.records(admitted.messages)
    admitted, result = await writer.append(admitted, "", attempt)
    if result.already_applied:
        first = tuple(map(decode, await writer.services.store.find(writer.id, result.ids)))
        _warn_of_another_turn(writer, attempt, first, admitted.messages)
        return Turn(first or admitted.messages, result)
    sent = zip(admitted.messages, result.ids, strict=False)
    return Turn(tuple(replace(message, id=message_id) for message, message_id in sent), result)


async def recorded_turn(writer: MemoryWriter, operation_id: str, call: telemetry.MeasuredCall) -> Turn | None:
    """Returns the turn that an earlier attempt of this operation has recorded, or None; see Memory.recorded_turn."""
    store = writer.services.store
    result = await store.recorded(writer.id, operation_id, writer.limits)
    if result is None:
        return None
    turn = Turn(tuple(map(decode, await store.find(writer.id, result.ids))), result)
    call.records(turn.messages)
    return turn


async def check_room_for_turn(writer: MemoryWriter, operation_id: str) -> None:
    """Raises MemoryBackpressure if a turn of ordinary size would be held back now; see Memory.recorded_turn.

    Whoever finds no turn goes on to ask a model, and would ask again and again while the answer cannot be stored.
    """
    limits = writer.limits
    if not limits.summarize or not allows(limits.mode, "record_turn"):
        return  # nothing waits there, or no turn is to come from here
    room = limits.share_of(SHORT_TERM) or limits.room_tokens or 1
    turn = Entry(payload="", section=SHORT_TERM, tokens=max(1, room // _TURNS_IN_A_ROOM))
    operation = Operation(operation_id, writer.services.clock.now_ms() + KEPT_AFTER_DEADLINE_MS, "")
    try:
        await writer.services.store.try_append(writer.id, [turn], operation, limits)
    except MemoryBackpressure as held_back:
        await writer.wake_for(held_back)
        raise
    except MemoryOversize:
        pass  # pinned and system messages leave less: a smaller turn may fit


def _warn_of_another_turn(
    writer: MemoryWriter, attempt: Attempt, recorded: Sequence[Message], sent: Sequence[Message]
) -> None:
    """Says so if what stands was an answer to something else: what a model says may differ, hardly what it was asked.

    So it is in an activity whose attempts record other turns, as one that goes on from its heartbeat details, and where
    two workflows give their turns in one memory the same operation id.
    """
    asked, asked_now = ([m for m in messages if m.role == "user"] for messages in (recorded, sent))
    if asked and asked_now and not (len(asked) == len(asked_now) and all(map(is_stored_form, asked, asked_now))):
        _log.warning(
            _ANOTHER_OF_THIS_NAME if is_given(attempt.operation_id) else _ANOTHER_IN_ITS_PLACE,
            extra={"resource": writer.id.resource},
        )
