"""How the mutating calls on one memory are named: by the id that the user gave, else as the caller numbers them."""

from __future__ import annotations

from dataclasses import dataclass

from durable_memory.memory.arguments import operation_name
from durable_memory.memory.caller import Attempt, Caller, given_attempt, given_id
from durable_memory.memory.clock import Clock
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.stores.values import Operation


@dataclass(frozen=True, slots=True)
class CallNames:
    """The names of what one caller does to one memory. agent: the declared agent in whose name it calls, if any.

    `operation_id` is in every method what the user gave, or None.
    """

    caller: Caller
    memory: MemoryId
    agent: str | None
    clock: Clock

    def attempt(self, operation_id: str | None, *, is_turn: bool = False, turn_of: str | None = None) -> Attempt:
        """Names the next call. Raises MemoryInvalid for what is no id.

        Call this before the first `await` of an operation: calls that are made at the same time are then numbered in
        the order in which they were made. is_turn: the call records a turn, which is numbered apart from other calls.
        turn_of: the agent whose turn a given id names in all of its memories.
        """
        if operation_id is None:
            return self.caller.next_attempt(self.memory, self.agent, is_turn=is_turn)
        return given_attempt(operation_name(operation_id), self.clock, turn_of)

    async def operation(self, operation_id: str | None, digest: str) -> Operation:
        """Names the next call, as a store takes it; the first `await` of an operation, as `attempt` says.

        digest: tells the call from another one with the same id.
        """
        return await self.attempt(operation_id).operation(digest)

    def recorded_turn_id(self, operation_id: str | None, turn_of: str | None = None) -> str:
        """Returns the operation id under which an earlier attempt may have recorded the next turn; names no call.

        Ask once for each turn that is looked for: asked again after `note_recorded_turn`, it goes on to the next one.
        turn_of: as for `attempt`. Raises MemoryInvalid without an id where no attempt repeats another.
        """
        if operation_id is not None:
            return given_id(operation_name(operation_id), turn_of)
        turn_id = self.caller.recorded_turn_id(self.memory, self.agent)
        if turn_id is None:
            raise MemoryInvalid("operation_id: is needed outside an activity, where no call repeats another")
        return turn_id

    def note_recorded_turn(self, operation_id: str | None) -> None:
        """Notes that a turn was found under what `recorded_turn_id` returned."""
        if operation_id is None:
            self.caller.note_recorded_turn(self.memory, self.agent)
