"""One turn in several memories: written to one after the other, so that another attempt completes what is half done.

Each memory records the turn for itself, see operations/turns.py. What one of them would refuse is found before anything
is written to any. An attempt may still end between two of them; the next one then finds the turn in those that have it
and, where one still holds all of its messages, gives the others the same, even if it brings other words itself. If it
brings the same words, the others get them as they came, and not as that one may have cut or redacted them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from durable_memory.memory import telemetry
from durable_memory.memory.caller import Attempt
from durable_memory.memory.errors import (
    MemoryBackpressure,
    MemoryFault,
    MemoryInvalid,
    MemoryOrphanResult,
    MemoryOversize,
)
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.operations.admission import messages_of
from durable_memory.memory.operations.repeated_append import is_stored_form
from durable_memory.memory.operations.turns import check_room_for_turn, record_turn, recorded_turn
from durable_memory.memory.operations.writer import MemoryWriter
from durable_memory.memory.types import AgentTurn, MemoryTurn, Message, MessageInput, Turn, as_messages

_REFUSALS: Final = (MemoryInvalid, MemoryOversize, MemoryOrphanResult, MemoryBackpressure)
"""Errors that the words of this attempt may cause, although those of an earlier attempt were accepted."""


@dataclass(frozen=True, slots=True)
class HeldTurn:
    """What one memory still holds of a recorded turn. is_complete: whether it holds all that was recorded."""

    memory: MemoryId
    turn: Turn
    is_complete: bool


class _NamedCall(NamedTuple):
    """The call that is to write the turn to one memory."""

    writer: MemoryWriter
    attempt: Attempt


async def record_in_all(
    writers: Sequence[MemoryWriter],
    messages: MessageInput | Sequence[MessageInput],
    operation_id: str | None,
    agent: str,
) -> AgentTurn:
    """Records a turn of an agent in the memories of these writers, as one operation; see DeclaredAgent.record_turn."""
    # All named before the first wait, since a repeated attempt may make its turns wait in another order.
    calls = [_NamedCall(writer, writer.names.attempt(operation_id, is_turn=True, turn_of=agent)) for writer in writers]
    policies = [writer.admission.privacy for writer in writers]
    to_write = await messages_of(messages, [privacy for privacy in policies if privacy is not None])
    if len(calls) > 1:
        to_write = await _accepted_by_all(calls, to_write)
    held: list[HeldTurn] = []
    # Whether a memory has taken the words to write, or was found to hold all those of an earlier attempt.
    words_are_settled = False
    for writer, attempt in calls:
        try:
            with telemetry.MeasuredCall("record_turn", writer.id) as call:
                turn = await record_turn(writer, to_write, attempt, call)
        except MemoryFault as fault:
            if not held:
                raise
            raise fault.saying(_half_done(held, calls[len(held) :], fault)) from fault
        here = _held(writer, turn, to_write)
        held.append(here)
        if turn.result.already_applied:
            left = calls[len(held) :]
            if left and here.is_complete and not words_are_settled:
                try:
                    if not await _holds_these_words(writer, turn, to_write):
                        to_write = as_messages(turn.messages)  # without what its store gave
                except MemoryFault as fault:
                    raise fault.saying(_half_done(held, left, fault)) from fault
                words_are_settled = True
        elif turn.result.ids:
            words_are_settled = True
    return AgentTurn(as_messages(_most_complete(held) or to_write), _results(held))


async def recorded_in_any(writers: Sequence[MemoryWriter], operation_id: str | None, agent: str) -> AgentTurn | None:
    """Returns the turn that an earlier attempt has recorded in any of the memories; see DeclaredAgent.recorded_turn."""
    turn_ids = [writer.names.recorded_turn_id(operation_id, agent) for writer in writers]
    found = [await _earlier_turn(writer, turn_id) for writer, turn_id in zip(writers, turn_ids, strict=True)]
    held = [here for here in found if here is not None]
    if not held:
        for writer, turn_id in zip(writers, turn_ids, strict=True):
            try:
                await check_room_for_turn(writer, turn_id)
            except MemoryBackpressure as held_back:
                telemetry.count_refused("recorded_turn", writer.id.resource, held_back)
                raise
        return None
    for writer in writers:  # also those that lack it: the turn has one number in all of them
        writer.names.note_recorded_turn(operation_id)
    # Given only a part of it, `record_in_all` would complete the memories that lack the turn without the rest.
    may_be_shown = len(held) == len(writers) or any(here.is_complete for here in held)
    return AgentTurn(_most_complete(held) if may_be_shown else (), _results(held))


async def _accepted_by_all(calls: Sequence[_NamedCall], messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Returns messages that every memory accepts: those sent, or those that an earlier attempt has recorded.

    Raises the error of the first memory that refuses them. The store of the first memory is not asked, since it is the
    first to be written anyway.
    """
    for position, (writer, attempt) in enumerate(calls):
        try:
            admitted = await writer.check(messages)
            if position:
                await writer.check_with_store(admitted, attempt)
        except _REFUSALS as refusal:
            # If an earlier attempt has begun this turn, the refusal of other words must not leave it half done.
            earlier = await _first_earlier_turn(calls, messages)
            if earlier is None:
                telemetry.count_refused("record_turn", writer.id.resource, refusal)
                raise
            return as_messages(earlier.turn.messages) if earlier.is_complete else messages
    return messages


async def _first_earlier_turn(calls: Sequence[_NamedCall], sent: tuple[Message, ...]) -> HeldTurn | None:
    """Returns what the first memory holds in which an earlier attempt has recorded the turn, or None."""
    for writer, attempt in calls:
        earlier = await _earlier_turn(writer, attempt.operation_id, sent)
        if earlier is not None:
            return earlier
    return None


async def _earlier_turn(writer: MemoryWriter, operation_id: str, sent: Sequence[Message] = ()) -> HeldTurn | None:
    """Returns what a memory holds of the turn that an earlier attempt has recorded, or None. sent: by this attempt."""
    with telemetry.MeasuredCall("recorded_turn", writer.id) as call:
        turn = await recorded_turn(writer, operation_id, call)
    return None if turn is None else _held(writer, turn, sent)


def _held(writer: MemoryWriter, turn: Turn, sent: Sequence[Message]) -> HeldTurn:
    """Tells of a recorded turn whether the memory holds all of its messages.

    It does not if some have left it since. A resource that does not store all kinds of messages may have left some out
    at the append, so there as many must be held as were `sent`; an earlier attempt may have sent more, or fewer.
    """
    held = [message for message in turn.messages if message.id is not None]
    privacy = writer.admission.privacy
    keeps_all_kinds = privacy is None or privacy.keeps_all_kinds
    is_complete = bool(held) and len(held) >= len(turn.result.ids) and (keeps_all_kinds or len(held) == len(sent))
    return HeldTurn(writer.id, turn, is_complete)


async def _holds_these_words(writer: MemoryWriter, turn: Turn, words: tuple[Message, ...]) -> bool:
    """Tells whether a recorded turn has the words that are sent again, which its memory may have cut or redacted."""
    stored, given = turn.messages, (await writer.admission.admit(words)).messages
    return len(stored) == len(given) and all(map(is_stored_form, stored, given))


def _most_complete(held: Sequence[HeldTurn]) -> tuple[Message, ...]:
    """Returns the messages of the first memory that holds the whole turn; else of the first that holds some of it."""
    complete = next((here.turn.messages for here in held if here.is_complete), ())
    return complete or next((here.turn.messages for here in held if here.turn.messages), ())


def _results(held: Sequence[HeldTurn]) -> tuple[MemoryTurn, ...]:
    return tuple(MemoryTurn(here.memory.resource, here.turn.result) for here in held)


def _half_done(held: Sequence[HeldTurn], missing: Sequence[_NamedCall], fault: MemoryFault) -> str:
    """Says which memories hold the turn, which do not yet, and what to do about it."""
    done = ", ".join(here.memory.resource for here in held)
    open_ = ", ".join(writer.id.resource for writer, _ in missing)
    again = "the same operation again completes it"
    advice = again if fault.retryable else f"once that is put right, {again}; or delete its messages where it stands"
    return f"the turn stands in {done} and not yet in {open_}: {advice}"
