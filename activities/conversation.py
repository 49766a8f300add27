"""The operations on one memory as activities.

Each takes one JSON request of the wire contract; the work is the core's. The parameter has no type on purpose: the SDK
would retry an activity whose argument it cannot convert for ever, while `parse` refuses it and names the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from temporalio import activity

from durable_memory.activities import requests, wire
from durable_memory.activities.answers import (
    ASK_FOR_THE_TURN,
    GROUP_LESS,
    READ_AFTERWARDS,
    TAKE_UP_THE_TURN,
    Activity,
    JsonObject,
    answer_of,
    carried,
    carried_turn,
    flushed,
)
from durable_memory.activities.current import current_memory_client
from durable_memory.activities.heartbeat import heartbeating
from durable_memory.activities.parsing import parse
from durable_memory.memory.memory import Memory
from durable_memory.memory.types import MemoryRef


@activity.defn(name=wire.APPEND)
async def append(request: Any = None) -> JsonObject:
    """Appends messages; see requests.AppendRequest."""
    asked = parse(requests.AppendRequest, request)
    result = await _memory(asked.memory).append(
        asked.messages, want_view=asked.want_view, operation_id=asked.operation_id
    )
    return carried(asked.memory.resource, result, READ_AFTERWARDS) if asked.want_view else answer_of(result)


@activity.defn(name=wire.RECORD_TURN)
async def record_turn(request: Any = None) -> JsonObject:
    """Appends a turn, once whatever an attempt brings, and returns what stands; see requests.RecordTurnRequest."""
    asked = parse(requests.RecordTurnRequest, request)
    turn = await _memory(asked.memory).record_turn(asked.messages, operation_id=asked.operation_id)
    return carried_turn(asked.memory.resource, turn, TAKE_UP_THE_TURN)


@activity.defn(name=wire.RECORDED_TURN)
async def recorded_turn(request: Any = None) -> JsonObject:
    """Returns the turn that stands under an operation id, if any; see requests.RecordedTurnRequest."""
    asked = parse(requests.RecordedTurnRequest, request)
    turn = await _memory(asked.memory).recorded_turn(operation_id=asked.operation_id)
    return carried_turn(asked.memory.resource, requests.RecordedTurnAnswer(turn), ASK_FOR_THE_TURN)


@activity.defn(name=wire.READ)
async def read(request: Any = None) -> JsonObject:
    """Returns the view; see requests.ReadRequest."""
    asked = parse(requests.ReadRequest, request)
    view = await _memory(asked.memory).read(
        limit=asked.limit,
        max_tokens=asked.max_tokens,
        sections=asked.sections,
        ids=asked.ids,
        before_id=asked.before_id,
        since_version=asked.since_version,
        authors=asked.authors is True,
    )
    return carried(asked.memory.resource, view)


@activity.defn(name=wire.WRITE)
async def write(request: Any = None) -> JsonObject:
    """Replaces a memory; see requests.WriteRequest."""
    asked = parse(requests.WriteRequest, request)
    result = await _memory(asked.memory).write(
        asked.messages, if_version=asked.if_version, operation_id=asked.operation_id
    )
    return answer_of(result)


@activity.defn(name=wire.TOUCH)
async def touch(request: Any = None) -> JsonObject:
    """Records an access; see requests.TouchRequest."""
    asked = parse(requests.TouchRequest, request)
    return answer_of(requests.TouchAnswer(await _memory(asked.memory).touch(asked.ids)))


@activity.defn(name=wire.PIN)
async def pin(request: Any = None) -> JsonObject:
    """Pins messages; see requests.PinRequest."""
    asked = parse(requests.PinRequest, request)
    return answer_of(requests.TouchAnswer(await _memory(asked.memory).pin(asked.ids, operation_id=asked.operation_id)))


@activity.defn(name=wire.UNPIN)
async def unpin(request: Any = None) -> JsonObject:
    """Unpins messages; see requests.PinRequest."""
    asked = parse(requests.PinRequest, request)
    return answer_of(
        requests.TouchAnswer(await _memory(asked.memory).unpin(asked.ids, operation_id=asked.operation_id))
    )


@activity.defn(name=wire.DELETE)
async def delete(request: Any = None) -> JsonObject:
    """Removes messages; see requests.DeleteRequest."""
    asked = parse(requests.DeleteRequest, request)
    return answer_of(await _memory(asked.memory).delete(asked.ids, operation_id=asked.operation_id))


@activity.defn(name=wire.CLEAR)
async def clear(request: Any = None) -> JsonObject:
    """Removes everything; see requests.ClearRequest."""
    asked = parse(requests.ClearRequest, request)
    result = await _memory(asked.memory).clear(
        confirm=asked.confirm, backup=asked.backup, operation_id=asked.operation_id
    )
    return answer_of(result)


@activity.defn(name=wire.RESTORE)
async def restore(request: Any = None) -> JsonObject:
    """Brings a backup back; see requests.RestoreRequest."""
    asked = parse(requests.RestoreRequest, request)
    result = await _memory(asked.memory).restore(
        asked.backup_id, if_version=asked.if_version, operation_id=asked.operation_id
    )
    return answer_of(result)


@activity.defn(name=wire.FLUSH)
async def flush(request: Any = None) -> JsonObject:
    """Runs one flush; see requests.FlushRequest."""
    asked = parse(requests.FlushRequest, request)
    async with heartbeating():
        result = await _memory(asked.memory).flush(
            force=asked.force,
            dry_run=asked.dry_run,
            max_messages=asked.max_messages,
            threshold=asked.threshold,
            wait=asked.wait,
            operation_id=asked.operation_id,
        )
    return flushed(result)


@activity.defn(name=wire.STATS)
async def stats(request: Any = None) -> JsonObject:
    """Returns the counters; see requests.StatsRequest."""
    asked = parse(requests.StatsRequest, request)
    counters = await _memory(asked.memory).stats(group_by=asked.group_by)
    return carried(asked.memory.resource, counters, GROUP_LESS)


@activity.defn(name=wire.HEALTH)
async def health(request: Any = None) -> JsonObject:
    """Tells whether a memory can do its work; see requests.HealthRequest."""
    asked = parse(requests.HealthRequest, request)
    return answer_of(await _memory(asked.memory).health(check_connectivity=asked.check_connectivity))


def _memory(field: requests.MemoryField) -> Memory:
    ref = MemoryRef(
        field.resource, field.key, field.input, field.agent, field.workflow_id, field.workflow_type, field.run_id
    )
    return current_memory_client().memory(ref)


ACTIVITIES: Final[Mapping[str, Activity]] = {
    wire.APPEND: append,
    wire.RECORD_TURN: record_turn,
    wire.RECORDED_TURN: recorded_turn,
    wire.READ: read,
    wire.WRITE: write,
    wire.TOUCH: touch,
    wire.PIN: pin,
    wire.UNPIN: unpin,
    wire.DELETE: delete,
    wire.CLEAR: clear,
    wire.RESTORE: restore,
    wire.FLUSH: flush,
    wire.STATS: stats,
    wire.HEALTH: health,
}
"""What every worker with the plugin runs on its own queue, by name."""
