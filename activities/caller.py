"""The activity attempt as a caller: its operations are named after the activity, so all its attempts share them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from temporalio import activity
from temporalio.api.common.v1 import Payload

from durable_memory.activities import wire
from durable_memory.activities.deadline import ActivityDeadline
from durable_memory.memory.caller import Attempt
from durable_memory.memory.client_parts import ClientParts
from durable_memory.memory.errors import MemoryFault, MemoryInvalid
from durable_memory.memory.hashing import keyed_hash
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.types import Provenance

_log = logging.getLogger(__name__)

_CALL: Final = "/"
_TURN: Final = "/turn/"
"""What stands in an operation id before the number of a call, and of a turn."""
_AGENT: Final = "/of/"
"""And before that, in front of the agent in whose name it is made."""

_running: ContextVar[ActivityCaller] = ContextVar("durable_memory_running")


class ActivityCaller:
    """One attempt of an activity.

    The nth mutating call of an attempt on one memory is `namespace/run id/activity/n`, the nth turn `…/turn/n`, those
    of an agent `…/of/agent/n` and `…/of/agent/turn/n`. So an activity must make its calls on each memory, in the name
    of each agent, in the same order in each attempt, or name them itself with `operation_id`.
    """

    def __init__(
        self,
        info: activity.Info,
        headers: Mapping[str, Payload],
        parts: ClientParts,
        is_running: Callable[[], Awaitable[bool]],
    ) -> None:
        """parts: of the client that makes the calls. is_running: see ActivityDeadline."""
        self._info = info
        self._calls: dict[tuple[MemoryId, str], int] = {}
        """How many calls of each kind there were on each memory."""
        self.has_ended = False
        """Whether the block of `running` is over."""
        self._found: set[tuple[MemoryId, str]] = set()
        """Memories and kinds of calls whose next turn was found, and neither named nor left behind since."""
        run_id = info.workflow_run_id or info.activity_run_id
        self._prefix = f"{info.namespace}/{run_id}/{_name(info, headers)}"
        self._deadline = ActivityDeadline(info, self._prefix, parts, is_running)
        self.workflow_type = info.workflow_type
        self._owner: Owner | None = None
        if info.workflow_id and info.workflow_run_id:
            self._owner = Owner(info.namespace, info.workflow_id, info.workflow_run_id)
        self.provenance: Provenance | None = Provenance(info.workflow_id, info.workflow_run_id, info.activity_id)

    @property
    def owner(self) -> Owner | None:
        """See Caller. Raises MemoryInvalid in another attempt."""
        self._refuse_another_attempt()
        return self._owner

    @property
    def begins_late(self) -> bool:
        """Whether `begin_late` is to be awaited before anything else."""
        return self._deadline.is_late

    async def begin_late(self) -> None:
        """Notes in the store that the activity began late: later attempts may see no call of this one."""
        try:
            await self._deadline.find_out()
        except MemoryFault as fault:
            # An activity that uses no memory needs no store. The first call asks again.
            _log.warning("it could not be noted that an activity began late: %s", fault.message)

    @property
    def origin(self) -> Mapping[str, str | int]:
        """See Caller. Users choose workflow ids, so they are left out, and some activity ids, so those are hashed."""
        info = self._info
        origin: dict[str, str | int] = {
            "caller": "activity",
            "namespace": info.namespace,
            "activity_type": info.activity_type,
            "attempt": info.attempt,
            "activity_id": info.activity_id
            if info.activity_id.isdecimal()
            else keyed_hash("activity", info.activity_id),
        }
        if info.workflow_run_id:
            origin["workflow_run_id"] = info.workflow_run_id
        return origin

    def next_attempt(self, memory: MemoryId, agent: str | None = None, *, is_turn: bool = False) -> Attempt:
        """See Caller. Raises MemoryInvalid in another attempt."""
        self._refuse_another_attempt()
        kind = _kind(agent, is_turn=is_turn)
        self._found.discard((memory, kind))
        self._calls[memory, kind] = number = self._calls.get((memory, kind), 0) + 1
        return Attempt(f"{self._prefix}{kind}{number}", self._deadline.of_next_call())

    def recorded_turn_id(self, memory: MemoryId, agent: str | None = None) -> str | None:
        """See Caller. Raises MemoryInvalid in another attempt."""
        self._refuse_another_attempt()
        kind = _kind(agent, is_turn=True)
        turns = memory, kind
        number = self._calls.get(turns, 0)
        if turns in self._found:
            self._found.discard(turns)
            self._calls[turns] = number = number + 1
        return f"{self._prefix}{kind}{number + 1}"

    def note_recorded_turn(self, memory: MemoryId, agent: str | None = None) -> None:
        """See Caller."""
        self._found.add((memory, _kind(agent, is_turn=True)))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Marks this as the attempt that runs here, in the block and in the tasks that are made there."""
        token = _running.set(self)
        try:
            yield
        finally:
            self.has_ended = True
            _running.reset(token)

    def _refuse_another_attempt(self) -> None:
        """Refuses a client that somebody kept, as in an attribute of a class of activities.

        Its calls would pass for more of this attempt's: a repetition would write again, and what another workflow wrote
        would belong to the workflow of this one. A task that has outlived its attempt may work for others.
        """
        here = _running.get(None)
        if here is not None and here is not self and not here.has_ended:
            raise MemoryInvalid(
                "this memory client belongs to another activity attempt: call current_memory_client() in each one, and "
                "open its memories there; a task that several activities share needs a MemoryClient of its own"
            )


def _kind(agent: str | None, *, is_turn: bool) -> str:
    kind = _TURN if is_turn else _CALL
    return kind if agent is None else f"{_AGENT}{agent}{kind}"


def _name(info: activity.Info, headers: Mapping[str, Payload]) -> str:
    """Names an activity within its run: all its attempts alike, and no other activity.

    Its id alone does not. One that a user chose is free again when its activity has ended, so the time when it was
    scheduled stands beside it. A local activity gets another id after a pause that is a timer, and another time when
    its worker died, so the workflow numbers its calls.
    """
    for header in headers:
        if header.startswith(wire.LOCAL_CALL):
            return f"local/{header.removeprefix(wire.LOCAL_CALL)}"
    return f"{info.activity_id}@{info.scheduled_time.timestamp():.6f}"
