"""A declared agent in any process: all of its memories as one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from durable_memory.memory import telemetry
from durable_memory.memory.access import allows
from durable_memory.memory.admission import messages_of
from durable_memory.memory.arguments import MAX_OPERATION_ID, operation_name, whole_number
from durable_memory.memory.caller import Attempt
from durable_memory.memory.context import Source, compose
from durable_memory.memory.declarations.agent import Use
from durable_memory.memory.errors import (
    MemoryBackpressure,
    MemoryFault,
    MemoryInvalid,
    MemoryOrphanResult,
    MemoryOversize,
)
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.memory import Memory
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.turns import record_turn, recorded_turn
from durable_memory.memory.types import (
    AgentContext,
    AgentRef,
    AgentTurn,
    MemoryTurn,
    Message,
    MessageInput,
    Turn,
    as_messages,
)
from durable_memory.memory.writing import Writing

CounterOf: TypeAlias = Callable[[MemoryId], TokenCounter]
"""Finds what counts the tokens of a memory."""


class UsedMemory(NamedTuple):
    """A memory that an agent uses: how it declares it, the handle on it, and its writing side."""

    use: Use
    memory: Memory
    writing: Writing


class AgentMemories:
    """The memories of one agent, opened with one input; cheap to make, holds no connection of its own.

    memories: in the order of the declaration. counter_of: finds the token counter of a memory, which also counts the
    labels that a context adds to it.
    """

    def __init__(self, ref: AgentRef, memories: Sequence[UsedMemory], counter_of: CounterOf) -> None:
        self._ref = ref
        self._memories = tuple(memories)
        self._counter_of = counter_of

    @property
    def ref(self) -> AgentRef:
        """A serialisable reference to this agent with its input."""
        return self._ref

    @property
    def memories(self) -> tuple[Memory, ...]:
        """The handles on its memories, each held to its mode, in the order of the declaration."""
        return tuple(one.memory for one in self._memories)

    async def context(self, *, max_tokens: int | None = None) -> AgentContext:
        """Composes its memories for one model call.

        max_tokens: what the context may have; without it, each memory gives its share or its whole view. A memory that
        is append-only takes part only if its declaration has `inject`. Raises MemoryOversize if what must stand does
        not fit, and what `Memory.read` raises: a memory that fails is an error, never a gap.
        """
        limit = whole_number("max_tokens", max_tokens)
        sources = [
            Source(memory, use.label or use.resource, use.max_tokens, self._counter_of(memory.id))
            for use, memory, _ in self._memories
            if use.mode != "append-only" or use.has_inject
        ]
        return await compose(sources, limit)

    async def record_turn(
        self, messages: MessageInput | Sequence[MessageInput], *, operation_id: str | None = None
    ) -> AgentTurn:
        """Appends the messages of one turn to every memory that it may write to, once per operation.

        What one of them would refuse is refused before anything is written to any. Then they are written one after the
        other, in the order of the declaration; what fails ends the call, says which memories hold the turn, and the
        same operation again completes it: memories that hold the turn answer the same. If a repeated attempt comes with
        other words, those that stand in the first memory go to the others as well. Errors as in `Memory.append`.

        Returns the messages as the first memory that holds all of them has stored them, redacted or cut, on every
        attempt; if none holds all, as the first one that holds some; without ids, which each memory gives for itself.
        """
        name = self._operation(operation_id)
        # All named before the first wait, since a repeated attempt may make its turns wait in another order.
        named = [(one, one.writing.attempt(name)) for one in self._written()]
        policies = [one.writing.privacy for one, _ in named if one.writing.privacy is not None]
        standing = await messages_of(messages, policies)
        turns: list[MemoryTurn] = []
        stored: list[_Stored] = []
        asked = True  # whether the words of an earlier attempt may still be found
        if len(named) > 1:
            standing = await _checked(named, standing)
        for one, attempt in named:
            try:
                with telemetry.measured("record_turn", one.memory.id) as call:
                    turn = await record_turn(one.writing, standing, attempt, call)
            except MemoryFault as fault:
                if not turns:
                    raise
                raise fault.saying(_half_done(turns, named, fault)) from fault
            whole = _holds_all(one, turn, standing)
            if asked and turn.result.already_applied and whole:
                standing, asked = as_messages(turn.messages), False  # without what its store gave
            asked = asked and (turn.result.already_applied or not turn.result.ids)
            turns.append(MemoryTurn(one.use.resource, turn.result))
            stored.append((whole, turn.messages))
        return AgentTurn(as_messages(_first_stored(stored) or standing), tuple(turns))

    async def recorded_turn(self, *, operation_id: str | None = None) -> AgentTurn | None:
        """Returns the turn that an earlier attempt has recorded, or None: to be asked before a model is asked again.

        Without an operation id it is the turn that `record_turn` would record if it were this attempt's next call.
        `messages` are those that `record_turn` would return; `turns` has the memories that hold it. An attempt may have
        ended between two of them: pass `messages` to `record_turn`, which completes the others. They are none if no
        memory holds any more of it, or only a part while others lack the turn: then ask the model again. Raises as
        `Memory.recorded_turn`.
        """
        name = self._operation(operation_id)
        named = [(one, one.writing.recorded_id(name)) for one in self._written()]
        turns: list[MemoryTurn] = []
        stored: list[_Stored] = []
        for one, recorded_id in named:
            with telemetry.measured("recorded_turn", one.memory.id) as call:
                turn = await recorded_turn(one.writing, recorded_id, call)
            if turn is not None:
                turns.append(MemoryTurn(one.use.resource, turn.result))
                stored.append((_holds_all(one, turn), turn.messages))
        if not turns:
            return None
        # With a part of it the memories that lack the turn would be completed without the rest.
        told = len(turns) == len(named) or any(whole for whole, _ in stored)
        return AgentTurn(_first_stored(stored) if told else (), tuple(turns))

    def _operation(self, operation_id: str | None) -> str | None:
        """Names the operation in each memory: one of the caller's, and of no other agent with the same id."""
        if operation_id is None:
            return None
        name = f"{operation_name(operation_id)}/{self._ref.id}"
        if len(name) <= MAX_OPERATION_ID:
            return name
        # The caller's own is no longer than it may be, so this one must be shortened, always to the same.
        return f"{hashlib.sha256(operation_id.encode()).hexdigest()}/{self._ref.id}"

    def _written(self) -> list[UsedMemory]:
        """Returns the memories that a turn is written to."""
        return [one for one in self._memories if allows(one.use.mode, "record_turn")]


_REFUSALS: Final = (MemoryInvalid, MemoryOversize, MemoryOrphanResult, MemoryBackpressure)
"""Errors that the words of this attempt may cause, although those of an earlier attempt were accepted."""


async def _checked(named: Sequence[tuple[UsedMemory, Attempt]], messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Returns messages that every memory accepts: those sent, or those that an earlier attempt has recorded.

    Raises the error of the first memory that refuses them. The store of the first memory is not asked, since it is the
    first to be written anyway.
    """
    for position, (one, attempt) in enumerate(named):
        try:
            admitted = await one.writing.check(messages)
            if position:
                await one.writing.check_there(admitted, attempt)
        except _REFUSALS as refusal:
            # If an earlier attempt has begun this turn, the refusal of other words must not leave it half done.
            first = await _recorded(named)
            if first is None:
                telemetry.count_refused("record_turn", one.memory.id.resource, refusal)
                raise
            return as_messages(first[1].messages) if _holds_all(*first, messages) else messages
    return messages


_Stored: TypeAlias = tuple[bool, tuple[Message, ...]]
"""A turn in one memory: whether all of its messages are held, and those that are."""


def _first_stored(stored: Sequence[_Stored]) -> tuple[Message, ...]:
    """Returns the turn of the first memory that holds all of it; else of the first that holds some."""
    whole = next((messages for whole, messages in stored if whole), ())
    return whole or next((messages for _, messages in stored if messages), ())


def _holds_all(one: UsedMemory, turn: Turn, sent: Sequence[Message] = ()) -> bool:
    """Tells whether a memory holds all messages of a recorded turn.

    It does not if some have left it since. A resource that does not store all kinds of messages may have left some out
    at the append, so there as many must be held as were `sent`; an earlier attempt may have sent more, or fewer.
    """
    held = [message for message in turn.messages if message.id is not None]
    if not held or len(held) < len(turn.result.ids):
        return False
    privacy = one.writing.privacy
    return len(held) == len(sent) or privacy is None or privacy.keeps_all_kinds


def _half_done(turns: Sequence[MemoryTurn], named: Sequence[tuple[UsedMemory, Attempt]], fault: MemoryFault) -> str:
    """Says which memories hold the turn, which do not yet, and what to do about it."""
    done = ", ".join(turn.resource for turn in turns)
    open_ = ", ".join(one.use.resource for one, _ in named[len(turns) :])
    again = "the same operation again completes it"
    advice = again if fault.retryable else f"once that is put right, {again}; or delete its messages where it stands"
    return f"the turn stands in {done} and not yet in {open_}: {advice}"


async def _recorded(named: Sequence[tuple[UsedMemory, Attempt]]) -> tuple[UsedMemory, Turn] | None:
    """Returns the turn that an earlier attempt has recorded in one of the memories, and in which, or None."""
    for one, attempt in named:
        with telemetry.measured("recorded_turn", one.memory.id) as call:
            turn = await recorded_turn(one.writing, attempt.operation_id, call)
        if turn is not None:
            return one, turn
    return None
