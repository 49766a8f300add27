"""The activity attempt as a caller: its operations are named after the activity, so all its attempts share them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.converter import default

from durable_memory.activities import wire
from durable_memory.memory.caller import GIVEN_ID_LIFETIME_MS, Attempt
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.spans import keyed_hash
from durable_memory.memory.types import Provenance

_LONGEST: Final = timedelta(milliseconds=GIVEN_ID_LIFETIME_MS)

_CALL: Final = "/"
_TURN: Final = "/turn/"
"""What stands in an operation id before the number of a call, and of a turn."""


class ActivityCaller:
    """One attempt of an activity.

    The nth mutating call of an attempt on one memory is `namespace/run id/activity/n`, the nth turn `…/turn/n`, so an
    activity must make its calls on each memory in the same order in each attempt, or name them itself with
    `operation_id`.
    """

    def __init__(self, info: activity.Info, headers: Mapping[str, Payload]) -> None:
        self._info = info
        self._calls: dict[tuple[MemoryId, str], int] = {}
        """How many there were on each memory, of each kind."""
        run_id = info.workflow_run_id or info.activity_run_id
        self._prefix = f"{info.namespace}/{run_id}/{_name(info, headers)}"
        self._deadline_ms = _deadline_ms(info)
        self.workflow_type = info.workflow_type
        self.owner: Owner | None = None
        if info.workflow_id and info.workflow_run_id:
            self.owner = Owner(info.namespace, info.workflow_id, info.workflow_run_id)
        self.provenance: Provenance | None = Provenance(info.workflow_id, info.workflow_run_id, info.activity_id)

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

    def next_attempt(self, memory: MemoryId, *, is_turn: bool = False) -> Attempt:
        """See Caller."""
        kind = _TURN if is_turn else _CALL
        self._calls[memory, kind] = number = self._calls.get((memory, kind), 0) + 1
        return Attempt(f"{self._prefix}{kind}{number}", self._deadline_ms)

    def next_turn_id(self, memory: MemoryId) -> str | None:
        """See Caller."""
        return f"{self._prefix}{_TURN}{self._calls.get((memory, _TURN), 0) + 1}"


def _name(info: activity.Info, headers: Mapping[str, Payload]) -> str:
    """Names an activity within its run: all its attempts alike, and no other activity.

    Its id alone does not. One that a user chose is free again when its activity has ended, so the time when it was
    scheduled stands beside it. A local activity gets another id after a pause that is a timer, and another time when
    its worker died, so the workflow numbers its calls.
    """
    if wire.LOCAL_CALL in headers:
        number: int = default().payload_converter.from_payload(headers[wire.LOCAL_CALL], int)
        return f"local/{number}"
    return f"{info.activity_id}@{info.scheduled_time.timestamp():.6f}"


def _deadline_ms(info: activity.Info) -> int:
    """When the last attempt must have arrived: schedule-to-close after it was scheduled, at most 24 hours."""
    lifetime = _LONGEST
    if info.schedule_to_close_timeout:
        lifetime = min(lifetime, info.schedule_to_close_timeout)
    return round((info.scheduled_time + lifetime).timestamp() * 1000)
