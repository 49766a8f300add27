"""What a store says when it refuses: one function per refusal, so that every driver refuses in the same words.

Texts name the resource, the limit and the actual number, never a key or content.
"""

from __future__ import annotations

from collections.abc import Sequence

from durable_memory.memory.access import Mode, allows
from durable_memory.memory.errors import (
    MESSAGES_STAY,
    MemoryAccessDenied,
    MemoryBackpressure,
    MemoryConflict,
    MemoryDamaged,
    MemoryInvalid,
    MemoryOperationConflict,
    MemoryOperationExpired,
    MemoryOrphanResult,
    MemoryOversize,
    MemorySummaryRejected,
)
from durable_memory.memory.limits import Room
from durable_memory.memory.types import LONG_TERM, SECTIONS, SYSTEM, Section, did_you_mean

BACKPRESSURE_RETRY_MS = 2000
"""How long a writer waits for the flusher to make room."""


def access_denied(resource: str) -> MemoryAccessDenied:
    """The caller's mode does not allow this, whatever route it took to the store."""
    return MemoryAccessDenied(f"{resource}: the caller has declared a mode that does not allow this operation")


def check_mode(mode: Mode, operation: str, resource: str) -> None:
    """Refuses what the mode of the caller does not allow."""
    if not allows(mode, operation):
        raise access_denied(resource)


def operation_expired(resource: str) -> MemoryOperationExpired:
    """The call came after its deadline."""
    return MemoryOperationExpired(
        f"{resource}: the operation arrived after its deadline and was not applied. It may repeat one that is no "
        "longer remembered, as an attempt more than 24 hours after the first one does: read what the memory holds; if "
        "it is missing, send it as a new operation (with another operation_id, or by a reset of the workflow). If each "
        "one ends so, compare the clocks of Redis, of Temporal and of the process that calls"
    )


def operation_id_reused(resource: str) -> MemoryOperationConflict:
    """The operation id stands for another content or another kind of call."""
    return MemoryOperationConflict(
        f"{resource}: this operation id was already used for other content. Give each new operation its own id; in an "
        "activity without one, an earlier attempt made another call in its place: pass operation_id where attempts may "
        "differ, and use record_turn for what a model wrote"
    )


def too_many_operations(resource: str, limit: int) -> MemoryBackpressure:
    """The record of operations is full until their deadlines pass."""
    return MemoryBackpressure(
        f"{resource}: {limit} operations of this memory are still inside their deadlines; try again later",
        retry_after_ms=BACKPRESSURE_RETRY_MS,
        awaits_flush=False,
    )


def section_not_writable(resource: str, position: int, section: Section, declared: Sequence[Section]) -> MemoryInvalid:
    """Only a commit writes summaries, and only declared sections are there."""
    if section == LONG_TERM:
        return MemoryInvalid(f"{resource}: messages[{position}] is for section long_term, which only a flush writes")
    user_defined = [name for name in declared if name not in SECTIONS]
    known = f"it declares {', '.join(user_defined)}" if user_defined else "it declares no sections of its own"
    refusal = MemoryInvalid(
        f"{resource}: messages[{position}] is for section {section!r}, which the resource does not declare; {known}"
        f"{did_you_mean(section, declared)}"
    )
    refusal.by_declarations = True
    return refusal


def message_too_large(
    resource: str, position: int, tokens: int, room: Room, *, for_summaries: int = 0
) -> MemoryOversize:
    """A message that could never stand in the view.

    for_summaries: what a budget without shares keeps free for them; it is told, so that the number that was declared
    stands in the text.
    """
    kept = for_summaries if room.section is None else 0
    less = f" ({room.limit + kept} less {kept} kept for summaries)" if kept else ""
    return MemoryOversize(
        f"{resource}: messages[{position}] has {tokens} tokens, but {_most(room)}{less}; shorten it",
        position=position,
        excess_tokens=tokens - room.limit,
    )


def group_too_large(
    resource: str, position: int, unit: str, actual: int, room: Room, *, waiting: int = 0
) -> MemoryOversize:
    """A message that would make its group of tool calls and results too large.

    unit: `tokens` or `messages`. actual: with what it has to leave other results. waiting: how many want a part.
    """
    return MemoryOversize(
        f"{resource}: with messages[{position}] its group of tool calls and results has {actual} {unit}, "
        f"but {_most(room)}; send a shorter result",
        position=position if unit == "tokens" else None,
        excess_tokens=actual - room.limit if unit == "tokens" else 0,
        waiting=waiting,
    )


def pinned_too_large(resource: str, unit: str, actual: int, room: Room) -> MemoryOversize:
    """System and pinned messages, which are never evicted, would fill or do fill more than there is."""
    what = "system and pinned" if room.section is None else "system" if room.section == SYSTEM else "pinned"
    return MemoryOversize(
        f"{resource}: {what} messages would have {actual} {unit}, but {_most(room)}; they are never evicted, so delete "
        "or unpin some first"
    )


def _most(room: Room) -> str:
    who = "messages" if room.section is None else f"section {room.section}"
    return f"{who} may fill at most {room.limit}"


def append_too_large(resource: str, unit: str, actual: int, limit: int) -> MemoryOversize:
    """An append that pushes out more than an empty overflow takes."""
    return MemoryOversize(
        f"{resource}: this append would push {actual} {unit} into the overflow, which takes {limit}; send it in parts"
    )


def overflow_full(resource: str, unit: str, waiting: int, arriving: int, limit: int) -> MemoryBackpressure:
    """The overflow has to be summarised first; the flusher is to be woken."""
    return MemoryBackpressure(
        f"{resource}: {waiting} {unit} wait to be summarised and {arriving} would join them, the overflow takes "
        f"{limit}; the same call passes after the next flush",
        retry_after_ms=BACKPRESSURE_RETRY_MS,
    )


def call_never_seen(resource: str, position: int) -> MemoryOrphanResult:
    """A tool result whose call is unknown."""
    return MemoryOrphanResult(
        f"{resource}: messages[{position}] is the result of a tool call that this memory never saw; "
        "append the assistant message with the call first"
    )


def call_already_answered(resource: str, position: int) -> MemoryOrphanResult:
    """A second result for a tool call."""
    return MemoryOrphanResult(
        f"{resource}: messages[{position}] is the result of a tool call that already has its result"
    )


def version_conflict(resource: str, has: str, wanted: str) -> MemoryConflict:
    """The memory changed since the caller read it. Both are versions: what is none does not reach a store."""
    return MemoryConflict(f"{resource}: the memory has version {has}, if_version is {wanted}; read again, then write")


def budget_too_small(resource: str, tokens: int, max_tokens: int) -> MemoryOversize:
    """A read that asks for less than system and pinned messages need."""
    return MemoryOversize(
        f"{resource}: system and pinned messages have {tokens} tokens, but the read allows {max_tokens}; allow more"
    )


def is_backup_id(value: str) -> bool:
    """Tells whether this can be the id of a backup: it becomes a part of a key."""
    return len(value) == 16 and all(letter in "0123456789abcdef" for letter in value)  # noqa: PLR2004 - 64 bits


def backup_unknown(resource: str) -> MemoryInvalid:
    """A restore from something that is no backup of this memory."""
    return MemoryInvalid(f"{resource}: backup_id: this memory has no such backup, or it has ended; stats lists them")


def backup_damaged(resource: str) -> MemoryDamaged:
    """A restore from a backup of which something is gone."""
    return MemoryDamaged(
        f"{resource}: this backup is not whole: something evicted or changed keys of it (check maxmemory-policy); "
        "the memory stays as it is"
    )


def before_unknown(resource: str) -> MemoryInvalid:
    """A read of older pages whose last message is of another incarnation of the memory, or of none."""
    return MemoryInvalid(
        f"{resource}: before_id names no message of this memory as it is now; read the newest page first"
    )


def cursor_unknown() -> MemoryInvalid:
    """A listing that is to go on where no page of it ended."""
    return MemoryInvalid("cursor: is not one that this listing gave")


def summary_missing(resource: str) -> MemorySummaryRejected:
    """A commit without a usable draft."""
    return MemorySummaryRejected(f"{resource}: the summary is missing or empty; {MESSAGES_STAY}")


def summary_too_large(resource: str, tokens: int, limit: int) -> MemorySummaryRejected:
    """A draft that would take room that is not kept free for it."""
    return MemorySummaryRejected(
        f"{resource}: the summary has {tokens} tokens, the room kept for it is {limit}; {MESSAGES_STAY}"
    )
