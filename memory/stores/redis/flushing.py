"""The flush side of the Redis driver."""

from __future__ import annotations

from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.redis import flush_replies
from durable_memory.memory.stores.redis.arguments import (
    NO_LIMIT,
    NO_LIMITS,
    batch_args,
    digits,
    mark_of,
    operation_args,
    packed,
    thresholds,
)
from durable_memory.memory.stores.redis.script_runner import ScriptRunner
from durable_memory.memory.stores.values import Batch, BatchPage, Begun, Entry, FlushOptions, Operation, Stopped
from durable_memory.memory.types import FlushResult


class RedisFlushing(ScriptRunner):
    """The flush scripts of the Store port."""

    async def begin(
        self,
        memory: MemoryId,
        flush_id: str,
        limits: Limits,
        options: FlushOptions,
        *,
        batch_id: str,
        attempt_ends_ms: int,
    ) -> Begun:
        """See Store."""
        mark, _ = mark_of(flush_id)
        args = [
            packed(options.chooses_by(limits)),
            mark,
            flush_id.encode(),
            batch_id.encode(),
            _force(options),
            digits(attempt_ends_ms),
            _most(options),
        ]
        reply = await self._run("begin", memory, args, limits.user_sections)
        return flush_replies.begun(memory.resource, reply, flush_id)

    async def plan(self, memory: MemoryId, limits: Limits, options: FlushOptions) -> FlushResult:
        """See Store."""
        args = [packed(options.chooses_by(limits)), _force(options), _most(options)]
        reply = await self._run("plan", memory, args, limits.user_sections)
        return flush_replies.planned(memory.resource, reply)

    async def content(self, memory: MemoryId, batch: Batch, cursor: int) -> BatchPage | Stopped:
        """See Store."""
        return flush_replies.batch_page(
            memory.resource, await self._run("content", memory, [NO_LIMITS, *batch_args(batch), digits(cursor)])
        )

    async def draft(self, memory: MemoryId, batch: Batch, summary: Entry) -> Stopped | None:
        """See Store."""
        args = [NO_LIMITS, *batch_args(batch), summary.payload.encode(), digits(summary.tokens)]
        return flush_replies.stopped(memory.resource, await self._run("draft", memory, args))

    async def renew(self, memory: MemoryId, batch: Batch, limits: Limits) -> bool:
        """See Store."""
        reply = await self._run("renew", memory, [packed(limits), *batch_args(batch)], limits.user_sections)
        return bool(reply == b"ok")

    async def commit(self, memory: MemoryId, batch: Batch, limits: Limits, deadline_ms: int) -> FlushResult:
        """See Store."""
        mark, _ = mark_of(batch.flush_id)
        _, tag = mark_of(batch.id)
        args = [packed(limits), *batch_args(batch), mark, digits(deadline_ms), tag.encode()]
        return flush_replies.committed(memory.resource, await self._run("commit", memory, args, limits.user_sections))

    async def fail(self, memory: MemoryId, batch: Batch, error_type: str, retry_after_ms: int) -> Stopped | None:
        """See Store."""
        args = [NO_LIMITS, *batch_args(batch), error_type.encode(), digits(retry_after_ms)]
        return flush_replies.stopped(memory.resource, await self._run("fail", memory, args))

    async def drop(self, memory: MemoryId, operation: Operation, limits: Limits, options: FlushOptions) -> FlushResult:
        """See Store."""
        named, _ = operation_args(operation)
        args = [
            packed(limits),
            *named,
            _force(options),
            _most(options),
            *([] if options.thresholds is None else thresholds(options.thresholds)),
        ]
        return flush_replies.dropped(memory.resource, await self._run("drop", memory, args, limits.user_sections))


def _force(options: FlushOptions) -> bytes:
    return b"1" if options.force else b"0"


def _most(options: FlushOptions) -> bytes:
    return NO_LIMIT if options.max_messages is None else digits(options.max_messages)
