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
from durable_memory.memory.stores.values import Batch, BatchPage, Begun, Entry, Operation, Stopped
from durable_memory.memory.types import FlushResult


class RedisFlushing(ScriptRunner):
    """The flush scripts of the Store port."""

    async def begin(
        self,
        memory: MemoryId,
        owner: str,
        *,
        batch_id: str,
        force: bool,
        attempt_ends_ms: int,
        limits: Limits,
        max_messages: int | None = None,
    ) -> Begun:
        """See Store."""
        mark, _ = mark_of(owner)
        args = [
            packed(limits),
            mark,
            owner.encode(),
            batch_id.encode(),
            b"1" if force else b"0",
            digits(attempt_ends_ms),
            NO_LIMIT if max_messages is None else digits(max_messages),
        ]
        return flush_replies.begun(memory.resource, await self._run("begin", memory, args, limits.user_sections), owner)

    async def plan(
        self, memory: MemoryId, limits: Limits, *, force: bool, max_messages: int | None = None
    ) -> FlushResult:
        """See Store."""
        most = NO_LIMIT if max_messages is None else digits(max_messages)
        args = [packed(limits), b"1" if force else b"0", most]
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
        mark, _ = mark_of(batch.owner)
        _, tag = mark_of(batch.id)
        args = [packed(limits), *batch_args(batch), mark, digits(deadline_ms), tag.encode()]
        return flush_replies.committed(memory.resource, await self._run("commit", memory, args, limits.user_sections))

    async def fail(self, memory: MemoryId, batch: Batch, error_type: str, retry_after_ms: int) -> Stopped | None:
        """See Store."""
        args = [NO_LIMITS, *batch_args(batch), error_type.encode(), digits(retry_after_ms)]
        return flush_replies.stopped(memory.resource, await self._run("fail", memory, args))

    async def drop(
        self,
        memory: MemoryId,
        operation: Operation,
        limits: Limits,
        *,
        force: bool,
        max_messages: int | None = None,
        asked: Limits | None = None,
    ) -> FlushResult:
        """See Store."""
        named, _ = operation_args(operation)
        args = [
            packed(limits),
            *named,
            b"1" if force else b"0",
            NO_LIMIT if max_messages is None else digits(max_messages),
            *([] if asked is None else thresholds(asked)),
        ]
        return flush_replies.dropped(memory.resource, await self._run("drop", memory, args, limits.user_sections))
