"""A declared agent in any process: all of its memories as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from durable_memory.memory.agents.context import Source, compose
from durable_memory.memory.agents.turns import record_in_all, recorded_in_any
from durable_memory.memory.arguments import operation_name, truth, whole_number
from durable_memory.memory.declarations.agent import Use
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.memory import Memory
from durable_memory.memory.operations.writer import MemoryWriter
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.types import AgentContext, AgentRef, AgentTurn, MessageInput

CounterOf: TypeAlias = Callable[[MemoryId], TokenCounter]
"""Finds what counts the tokens of a memory."""


class UsedMemory(NamedTuple):
    """A memory that an agent uses: how it declares it, and the handle on it."""

    use: Use
    memory: Memory


class DeclaredAgent:
    """A handle on all memories of a declared agent; cheap to make, holds no connection of its own.

    memories: opened with one input, in the order of the declaration. counter_of: finds the token counter of a memory,
    which also counts the labels that a context adds to it.
    """

    def __init__(self, ref: AgentRef, memories: Sequence[UsedMemory], counter_of: CounterOf) -> None:
        self._ref = ref
        self._memories = tuple(memories)
        self._counter_of = counter_of

    @property
    def ref(self) -> AgentRef:
        """A serialisable reference to this agent with its input, and the workflow of this activity."""
        return self._ref

    @property
    def memories(self) -> tuple[Memory, ...]:
        """The handles on its memories, each held to its mode, in the order of the declaration."""
        return tuple(one.memory for one in self._memories)

    async def context(self, *, max_tokens: int | None = None, authors: bool = False) -> AgentContext:
        """Composes its memories for one model call.

        max_tokens: what the context may have; without it, each memory gives its share or its whole view. A memory that
        is append-only takes part only if its declaration has `inject`. authors: as in `Memory.read`. Raises
        MemoryOversize if what must stand does not fit, and what `Memory.read` raises: a memory that fails is an error,
        never a gap.
        """
        limit = whole_number("max_tokens", max_tokens)
        sources = [
            Source(memory, use.label or use.resource, use.max_tokens, self._counter_of(memory.id))
            for use, memory in self._memories
            if use.takes_part
        ]
        return await compose(sources, limit, authors=truth("authors", authors))

    async def record_turn(
        self, messages: MessageInput | Sequence[MessageInput], *, operation_id: str | None = None
    ) -> AgentTurn:
        """Appends the messages of one turn to every memory that takes its turns, once per operation.

        Those are all that it may append to, unless they declare `record_turns: false`.

        What one of them would refuse is refused before anything is written to any. Then they are written one after the
        other, in the order of the declaration; what fails ends the call, says which memories hold the turn, and the
        same operation again completes it: memories that hold the turn answer the same. If a repeated attempt comes with
        other words, those that stand in the first memory go to the others as well. Errors as in `Memory.append`.

        Returns the messages as the first memory that holds all of them has stored them, redacted or cut, on every
        attempt; if none holds all, as the first one that holds some; without ids, which each memory gives for itself.
        """
        return await record_in_all(self._writers(), messages, _checked(operation_id), self._ref.id)

    async def recorded_turn(self, *, operation_id: str | None = None) -> AgentTurn | None:
        """Returns the turn that an earlier attempt has recorded, or None: to be asked before a model is asked again.

        Without an operation id it is the turn that `record_turn` would record if it were this attempt's next call, and
        the one after that where it was asked before and found one.
        `messages` are those that `record_turn` would return; `turns` has the memories that hold it. An attempt may have
        ended between two of them: pass `messages` to `record_turn`, which completes the others. They are none if no
        memory holds any more of it, or only a part while others lack the turn: then ask the model again. Raises
        what `Memory.recorded_turn` raises: MemoryBackpressure also if only one of the memories would hold it back.
        """
        return await recorded_in_any(self._writers(), _checked(operation_id), self._ref.id)

    def _writers(self) -> list[MemoryWriter]:
        """Returns the writers of the memories that take its turns."""
        return [one.memory.writer for one in self._memories if one.use.takes_turns]


def _checked(operation_id: str | None) -> str | None:
    """Checks the id, since without a memory that takes turns nobody else does."""
    return None if operation_id is None else operation_name(operation_id)
