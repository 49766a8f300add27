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

        max_tokens: of the whole context; without it, each memory gives its share or its whole view. A memory that is
        append-only takes part only if its declaration has `inject`. authors: as in `Memory.read`. Raises MemoryOversize
        if what is never cut (system and pinned messages, labels) does not fit, and what `Memory.read` raises: a memory
        that fails is an error, never a gap.
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
        """Appends the messages of one turn, once per operation, to every memory that takes the agent's turns.

        Those are the memories that it may append to, apart from those that it declares with `record_turns: false`.

        If one of them would refuse the turn, nothing is written to any. Otherwise they are written one after the other,
        in the order of the declaration. An error ends the call and says which memories hold the turn by then; the same
        operation, called again, completes the others. If it brings other messages then, the others get those that the
        first memory holds. Raises what `Memory.append` raises.

        Returns the same messages on every attempt: as they are stored (redacted, cut) in the first memory that holds
        all of them, or else in the first one that holds some. They have no ids, since each memory gives its own.
        """
        return await record_in_all(self._writers(), messages, _checked(operation_id), self._ref.id)

    async def recorded_turn(self, *, operation_id: str | None = None) -> AgentTurn | None:
        """Returns the turn that an earlier attempt has recorded, or None. Call it before you ask a model again.

        Without an operation id it looks for the turn that the next `record_turn` of this attempt would record; called
        again after it found one, for the turn behind that.

        `messages` are those that `record_turn` would return; `turns` names the memories that hold the turn. An attempt
        may have ended between two memories: pass `messages` to `record_turn`, which completes the others. There are no
        messages if no memory holds any of them any more, or if some memories lack the turn and no other one holds all
        of it: ask the model again then. Raises what `Memory.recorded_turn` raises; MemoryBackpressure also if only one
        of the memories would hold the turn back.
        """
        return await recorded_in_any(self._writers(), _checked(operation_id), self._ref.id)

    def _writers(self) -> list[MemoryWriter]:
        """Returns the writers of the memories that take its turns."""
        return [one.memory.writer for one in self._memories if one.use.takes_turns]


def _checked(operation_id: str | None) -> str | None:
    """Checks the id, since without a memory that takes turns nobody else does."""
    return None if operation_id is None else operation_name(operation_id)
