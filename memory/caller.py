"""Who calls: gives a call its operation id and deadline, and what is known of the workflow behind it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from durable_memory.memory.clock import Clock
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.stores.values import LONGEST_OPERATION_MS, Operation
from durable_memory.memory.types import AgentRef, MemoryRef, Provenance, given_by

_GIVEN: Final = "given:"
"""Begins the ids that users chose."""

_GIVEN_TO: Final = "given-to:"
"""Begins ids that users chose for the turn of an agent. The agent's id follows, which has no colon."""

_Reference = TypeVar("_Reference", bound=MemoryRef | AgentRef)

GIVEN_ID_LIFETIME_MS: Final = LONGEST_OPERATION_MS
"""How long an operation id chosen by a caller is remembered."""

OWN_ID_LIFETIME_MS = 600 * 1000
"""How long an operation is remembered whose id only this call knows.

Nobody can repeat it but the connection, within seconds; a flush takes minutes. One memory remembers 100,000 operations
and refuses more, so a longer lifetime would hold up a process that appends often.
"""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One mutating call.

    operation_id: of all its attempts. deadline_ms: the Unix time after which it is refused, or a coroutine function
    that returns it.
    """

    operation_id: str
    deadline_ms: int | Callable[[], Awaitable[int]]

    async def ends_ms(self) -> int:
        """Returns the Unix time after which it is refused. May raise MemoryUnavailable."""
        return self.deadline_ms if isinstance(self.deadline_ms, int) else await self.deadline_ms()

    async def operation(self, digest: str) -> Operation:
        """Returns it as a store takes it; `digest` tells its input from that of another call with the same id."""
        return Operation(self.operation_id, await self.ends_ms(), digest)


class Caller(Protocol):
    """Where calls come from."""

    @property
    def owner(self) -> Owner | None:
        """The workflow that owns what is written, if any."""
        ...

    @property
    def workflow_type(self) -> str | None:
        """The type of that workflow, for key templates."""
        ...

    @property
    def provenance(self) -> Provenance | None:
        """What a written message says of its origin."""
        ...

    @property
    def origin(self) -> Mapping[str, str | int]:
        """What an audit may say of it: `caller`, and of an activity where it runs; no id that a user has chosen."""
        ...

    def next_attempt(self, memory: MemoryId, agent: str | None = None, *, is_turn: bool = False) -> Attempt:
        """Names the next mutating call on a memory in the name of an agent.

        Turns are numbered apart, and so are the calls of each agent: no other call may pass for one of these. A
        repeated attempt of the same work must get the same names in the same order, whatever it does to others.
        """
        ...

    def recorded_turn_id(self, memory: MemoryId, agent: str | None = None) -> str | None:
        """Returns the operation id under which an earlier attempt may have recorded the next turn; names no call.

        The next turn is the one that `next_attempt` would name. If it was found, and is asked for again without having
        been named since, it is the one behind it: a loop has gone on to its next turn. None if no attempt repeats
        another.
        """
        ...

    def note_recorded_turn(self, memory: MemoryId, agent: str | None = None) -> None:
        """Notes that the turn was found which `recorded_turn_id` named: the caller may record it again, or go on."""
        ...


def given_out(ref: _Reference, caller: Caller) -> _Reference:
    """Returns a reference as this caller gives it out: see `given_by`."""
    owner = caller.owner
    if owner is None:
        return ref
    return given_by(ref, owner.workflow_id, caller.workflow_type, owner.run_id)


class ProcessCaller:
    """A script or service outside Temporal: each call is an operation of its own, unless the caller gives an id."""

    owner: Owner | None = None
    workflow_type: str | None = None
    provenance: Provenance | None = None

    def __init__(self, clock: Clock, kind: str = "process", **known: str) -> None:
        """kind: what an audit calls it. known: what else an audit may say of it."""
        self._clock = clock
        self.origin: Mapping[str, str | int] = {"caller": kind, **known}

    def next_attempt(
        self,
        memory: MemoryId,  # noqa: ARG002 - no two calls are one here
        agent: str | None = None,  # noqa: ARG002 - the same
        *,
        is_turn: bool = False,  # noqa: ARG002 - the same
    ) -> Attempt:
        """See Caller."""
        return Attempt(os.urandom(16).hex(), self._clock.now_ms() + OWN_ID_LIFETIME_MS)

    def recorded_turn_id(self, memory: MemoryId, agent: str | None = None) -> str | None:  # noqa: ARG002 - none is repeated
        """See Caller."""
        return None

    def note_recorded_turn(self, memory: MemoryId, agent: str | None = None) -> None:
        """See Caller; none was recorded under an id that was made here."""


def given_id(operation_id: str, agent: str | None = None) -> str:
    """Returns an id that the user chose with a prefix that keeps it apart from those made here.

    agent: whose turn it names, in all of its memories; it is then no id of another agent or of a call on one memory.
    """
    return f"{_GIVEN}{operation_id}" if agent is None else f"{_GIVEN_TO}{agent}:{operation_id}"


def is_given(operation_id: str) -> bool:
    """Tells whether a user chose what this id was made of."""
    return operation_id.startswith((_GIVEN, _GIVEN_TO))


def given_attempt(operation_id: str, clock: Clock, agent: str | None = None) -> Attempt:
    """Names a call whose id the user chose; see `given_id`."""
    return Attempt(given_id(operation_id, agent), clock.now_ms() + GIVEN_ID_LIFETIME_MS)
