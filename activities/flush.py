"""The steps of a durable flush as activities. Only ids and numbers travel; plan and draft live in the store."""

from __future__ import annotations

import dataclasses
import logging
from datetime import timedelta
from typing import Final

from temporalio import activity

from durable_memory.activities import internal_requests, operations
from durable_memory.activities.answers import JsonObject, answer_of
from durable_memory.activities.current import client_of_project
from durable_memory.activities.defining import Activities
from durable_memory.activities.heartbeat import heartbeating
from durable_memory.memory import telemetry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import MemoryUnknownResource, MemoryWrongWorker, type_of
from durable_memory.memory.flushing.measuring import measure_result
from durable_memory.memory.flushing.steps import FlushSteps
from durable_memory.memory.hashing import memory_hash
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.operations.audit import AuditedCall
from durable_memory.memory.stores.values import KEPT_AFTER_DEADLINE_MS, Batch, FlushOptions
from durable_memory.memory.task_queues import summaries_queue
from durable_memory.memory.types import FlushResult

_log = logging.getLogger(__name__)

_RETRY_AFTER_LAST_ATTEMPT_MS: Final = 60_000
"""How long a flush whose attempts are used up keeps the next one away; a forced flush does not wait."""

_CLOCKS_DIFFER: Final = timedelta(milliseconds=KEPT_AFTER_DEADLINE_MS)
"""By how much clocks may differ: the time by which operation ids outlive their deadlines (R2 of docs/protocol.md)."""

ACTIVITIES: Final = Activities()


@ACTIVITIES.serve(operations.FLUSH_BEGIN)
async def begin(asked: internal_requests.BeginRequest) -> JsonObject:
    """Chooses a batch, and answers it; or runs the whole flush of a memory that drops.

    If there is no batch, the answer is a flush result. A summary that waits for a model is to be written on a queue of
    its own, where it takes no slot of other work.
    """
    resource, memory, flush = _target(asked.target)
    limits, options = resource.limits(), FlushOptions(force=asked.force)
    now_ms = _now_ms(memory)
    if not limits.summarize:
        with AuditedCall("flush", client_of_project(asked.target.project).caller, memory) as record:
            if not asked.force:
                record.skip()  # the declaration asks for it, no caller did
            record.named(asked.owner)
            dropped = await flush.run(memory, asked.owner, limits, options, deadline_ms=_last_attempt_ends_ms())
            record.done(already_applied=dropped.already_applied, removed=len(dropped.removed_ids))
        return await _ended(resource, memory, dropped, now_ms)
    begun = await flush.begin(memory, asked.owner, limits, options, attempt_ends_ms=_attempt_ends_ms())
    if isinstance(begun, FlushResult):
        return answer_of(begun)
    batch = _batch_field(begun, now_ms)
    is_slow = client_of_project(asked.target.project).parts.summarizers.is_slow(resource)
    queue = summaries_queue(activity.info().task_queue) if is_slow else None
    answer = answer_of(internal_requests.BeginAnswer("batch", batch, queue))
    return {name: value for name, value in answer.items() if value is not None}


@ACTIVITIES.serve(operations.FLUSH_SUMMARIZE)
async def summarize(asked: internal_requests.BatchRequest) -> JsonObject:
    """Writes the summary into the batch; outcome `drafted`, or `gone` or `stale` if it has become useless."""
    resource, memory, flush = _target(asked.target)
    async with heartbeating():
        try:
            stopped = await flush.summarize(
                memory, _batch(asked.batch), resource.limits(), last_attempt=_is_last_attempt()
            )
        except Exception as error:
            # Temporal's own line names no memory. The error is logged there; its text may repeat content.
            of_memory = {"resource": resource.id, "memory_hash": memory_hash(memory)}
            _log.warning("a summary was not written (%s)", type_of(error), extra=of_memory)
            raise
    if stopped is not None:
        telemetry.count_flush(
            resource.id, resource.flushing.strategy, stopped, _seconds_since(memory, asked.batch.begun_ms)
        )
    return answer_of(internal_requests.StepAnswer(stopped or "drafted"))


@ACTIVITIES.serve(operations.FLUSH_COMMIT)
async def commit(asked: internal_requests.BatchRequest) -> JsonObject:
    """Replaces the batch by its summary in one step; answers the flush result."""
    resource, memory, flush = _target(asked.target)
    result = await flush.commit(memory, _batch(asked.batch), resource.limits(), deadline_ms=_last_attempt_ends_ms())
    return await _ended(resource, memory, result, asked.batch.begun_ms)


@ACTIVITIES.serve(operations.FLUSH_FAIL)
async def fail(asked: internal_requests.FailRequest) -> JsonObject:
    """Gives batch and lease back after the last attempt; the messages stay as they are."""
    resource, memory, flush = _target(asked.target)
    stopped = await flush.fail(
        memory, _batch(asked.batch), error_type=asked.error_type, retry_after_ms=_RETRY_AFTER_LAST_ATTEMPT_MS
    )
    telemetry.count_flush(
        resource.id, resource.flushing.strategy, "failed", _seconds_since(memory, asked.batch.begun_ms)
    )
    return answer_of(internal_requests.StepAnswer(stopped or "failed"))


def _target(target: internal_requests.FlushTarget) -> tuple[MemoryResource, MemoryId, FlushSteps]:
    client = client_of_project(target.project)
    try:
        resource = client.registry.memory(target.resource)
    except MemoryUnknownResource:
        # Retryable: another worker of the queue may declare it, as while new declarations are rolled out.
        raise MemoryWrongWorker(
            f"this worker declares no memory {target.resource!r}: give all workers of the project's queue the "
            "declarations of all its memories"
        ) from None
    return resource, MemoryId(target.project, target.resource, target.key), client.parts.services(resource).flush


def _batch(field: internal_requests.BatchField) -> Batch:
    values = dataclasses.asdict(field)
    del values["begun_ms"]
    return Batch(flush_id=values.pop("owner"), **values)


def _batch_field(batch: Batch, begun_ms: int) -> internal_requests.BatchField:
    values = dataclasses.asdict(batch)
    return internal_requests.BatchField(owner=values.pop("flush_id"), **values, begun_ms=begun_ms)


async def _ended(resource: MemoryResource, memory: MemoryId, result: FlushResult, begun_ms: int) -> JsonObject:
    store = client_of_project(memory.project).parts.services(resource).store
    await measure_result(store, resource, memory, result, _seconds_since(memory, begun_ms))
    # The removed ids stay in the store's hands: a thousand of them would weigh on the flusher's history.
    return answer_of(dataclasses.replace(result, removed_ids=()))


def _now_ms(memory: MemoryId) -> int:
    return client_of_project(memory.project).parts.clock.now_ms()


def _seconds_since(memory: MemoryId, begun_ms: int) -> float:
    return max(_now_ms(memory) - begun_ms, 0) / 1_000


def _is_last_attempt() -> bool:
    info = activity.info()
    attempts = info.retry_policy.maximum_attempts if info.retry_policy else 0
    return 0 < attempts <= info.attempt


def _attempt_ends_ms() -> int:
    """Returns when the server gives this attempt up, in Unix ms: a begin that arrives later must not take the lease.

    An allowance is added, since the time is set by Temporal's clock and checked by that of Redis: without it, clocks
    that differ by ten seconds would refuse each flush for good. At worst a dead attempt holds the lease once.
    """
    info = activity.info()
    ends = info.started_time + (info.start_to_close_timeout or timedelta(seconds=10)) + _CLOCKS_DIFFER
    return round(ends.timestamp() * 1000)


def _last_attempt_ends_ms() -> int:
    info = activity.info()
    return round((info.scheduled_time + (info.schedule_to_close_timeout or timedelta(minutes=10))).timestamp() * 1000)
