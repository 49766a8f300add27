"""The operations on one memory as activities.

Each takes one request of the wire contract; the work is the core's.
"""

from __future__ import annotations

from typing import Final

from durable_memory.activities import operations, requests
from durable_memory.activities.answers import (
    ASK_FOR_THE_TURN,
    GROUP_LESS,
    READ_AFTERWARDS,
    TAKE_UP_THE_TURN,
    JsonObject,
    answer_of,
    carried,
    carried_flush,
    carried_turn,
)
from durable_memory.activities.current import current_memory_client
from durable_memory.activities.defining import Activities
from durable_memory.activities.heartbeat import heartbeating
from durable_memory.memory.memory import Memory
from durable_memory.memory.types import MemoryRef

ACTIVITIES: Final = Activities()


@ACTIVITIES.serve(operations.APPEND)
async def append(asked: requests.AppendRequest) -> JsonObject:
    """Appends messages."""
    result = await _memory(asked.memory).append(
        asked.messages, want_view=asked.want_view, operation_id=asked.operation_id
    )
    return carried(asked.memory.resource, result, READ_AFTERWARDS) if asked.want_view else answer_of(result)


@ACTIVITIES.serve(operations.RECORD_TURN)
async def record_turn(asked: requests.RecordTurnRequest) -> JsonObject:
    """Appends a turn, once whatever an attempt brings, and returns what stands."""
    turn = await _memory(asked.memory).record_turn(asked.messages, operation_id=asked.operation_id)
    return carried_turn(asked.memory.resource, turn, TAKE_UP_THE_TURN)


@ACTIVITIES.serve(operations.RECORDED_TURN)
async def recorded_turn(asked: requests.RecordedTurnRequest) -> JsonObject:
    """Returns the turn that stands under an operation id, if any."""
    turn = await _memory(asked.memory).recorded_turn(operation_id=asked.operation_id)
    return carried_turn(asked.memory.resource, requests.RecordedTurnAnswer(turn), ASK_FOR_THE_TURN)


@ACTIVITIES.serve(operations.READ)
async def read(asked: requests.ReadRequest) -> JsonObject:
    """Returns the view."""
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


@ACTIVITIES.serve(operations.WRITE)
async def write(asked: requests.WriteRequest) -> JsonObject:
    """Replaces a memory."""
    result = await _memory(asked.memory).write(
        asked.messages, if_version=asked.if_version, operation_id=asked.operation_id
    )
    return answer_of(result)


@ACTIVITIES.serve(operations.TOUCH)
async def touch(asked: requests.TouchRequest) -> JsonObject:
    """Records an access."""
    return answer_of(requests.TouchAnswer(await _memory(asked.memory).touch(asked.ids)))


@ACTIVITIES.serve(operations.PIN)
async def pin(asked: requests.PinRequest) -> JsonObject:
    """Pins messages."""
    return answer_of(requests.TouchAnswer(await _memory(asked.memory).pin(asked.ids, operation_id=asked.operation_id)))


@ACTIVITIES.serve(operations.UNPIN)
async def unpin(asked: requests.PinRequest) -> JsonObject:
    """Unpins messages."""
    return answer_of(
        requests.TouchAnswer(await _memory(asked.memory).unpin(asked.ids, operation_id=asked.operation_id))
    )


@ACTIVITIES.serve(operations.DELETE)
async def delete(asked: requests.DeleteRequest) -> JsonObject:
    """Removes messages."""
    return answer_of(await _memory(asked.memory).delete(asked.ids, operation_id=asked.operation_id))


@ACTIVITIES.serve(operations.CLEAR)
async def clear(asked: requests.ClearRequest) -> JsonObject:
    """Removes everything."""
    result = await _memory(asked.memory).clear(
        confirm=asked.confirm, backup=asked.backup, operation_id=asked.operation_id
    )
    return answer_of(result)


@ACTIVITIES.serve(operations.RESTORE)
async def restore(asked: requests.RestoreRequest) -> JsonObject:
    """Brings a backup back."""
    result = await _memory(asked.memory).restore(
        asked.backup_id, if_version=asked.if_version, operation_id=asked.operation_id
    )
    return answer_of(result)


@ACTIVITIES.serve(operations.FLUSH)
async def flush(asked: requests.FlushRequest) -> JsonObject:
    """Runs one flush."""
    async with heartbeating():
        result = await _memory(asked.memory).flush(
            force=asked.force,
            dry_run=asked.dry_run,
            max_messages=asked.max_messages,
            threshold=asked.threshold,
            wait=asked.wait,
            operation_id=asked.operation_id,
        )
    return carried_flush(result)


@ACTIVITIES.serve(operations.STATS)
async def stats(asked: requests.StatsRequest) -> JsonObject:
    """Returns the counters."""
    counters = await _memory(asked.memory).stats(group_by=asked.group_by)
    return carried(asked.memory.resource, counters, GROUP_LESS)


@ACTIVITIES.serve(operations.HEALTH)
async def health(asked: requests.HealthRequest) -> JsonObject:
    """Tells whether a memory can do its work."""
    return answer_of(await _memory(asked.memory).health(check_connectivity=asked.check_connectivity))


def _memory(field: requests.MemoryField) -> Memory:
    ref = MemoryRef(
        field.resource, field.key, field.input, field.agent, field.workflow_id, field.workflow_type, field.run_id
    )
    return current_memory_client().memory(ref)
