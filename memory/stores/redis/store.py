"""The Redis driver of the store port: each method sends one script and reads its answer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal, TypeAlias

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.redis import replies
from durable_memory.memory.stores.redis.arguments import (
    NO_LIMITS,
    digits,
    entry_args,
    mark_of,
    operation_args,
    packed,
    read_args,
)
from durable_memory.memory.stores.redis.flushing import RedisFlushing
from durable_memory.memory.stores.redis.removal import RedisRemoval
from durable_memory.memory.stores.values import Entry, Operation, ReadQuery, ScanPage, StoredEntry, StoredView
from durable_memory.memory.types import AppendResult, DeleteResult, MemoryStats

_Call: TypeAlias = Literal["append", "write"]

_KINDS: Final[dict[_Call, bytes]] = {"append": b"a", "write": b"w"}
"""As the record of operations tells them apart."""
_PAGE_BYTES: Final = 250_000
"""What is enough for a page of a scan, so that one of large messages stays small."""


class RedisStore(RedisFlushing, RedisRemoval):
    """The Store port on Redis 7.0 or newer. Made by `connect_redis`."""

    async def append(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits
    ) -> AppendResult:
        """See Store."""
        named, tag = operation_args(operation)
        try:
            heads = entry_args(memory.resource, entries, limits)
        except MemoryInvalid as refusal:
            return await self._applied_before(memory, "append", operation, limits, refusal)
        args = [packed(limits), *named, os.urandom(8).hex().encode(), *heads]
        return replies.appended(
            memory.resource, await self._run("append", memory, args, limits.user_sections), tag, len(entries)
        )

    async def try_append(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits
    ) -> None:
        """See Store."""
        named, _ = operation_args(operation)
        try:
            heads = entry_args(memory.resource, [replace(entry, payload="") for entry in entries], limits)
        except MemoryInvalid as refusal:
            await self._applied_before(memory, "append", operation, limits, refusal)
            return
        args = [packed(limits), *named, b"", *heads]
        replies.tried(memory.resource, await self._run("try_append", memory, args, limits.user_sections))

    async def write(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits, if_version: str | None
    ) -> AppendResult:
        """See Store."""
        named, tag = operation_args(operation)
        try:
            heads = entry_args(memory.resource, entries, limits)
        except MemoryInvalid as refusal:
            return await self._applied_before(memory, "write", operation, limits, refusal)
        args = [
            packed(limits),
            *named,
            os.urandom(8).hex().encode(),
            (if_version or "").encode(),
            *heads,
        ]
        return replies.appended(
            memory.resource, await self._run("write", memory, args, limits.user_sections), tag, len(entries), if_version
        )

    async def _applied_before(
        self, memory: MemoryId, call: _Call, operation: Operation, limits: Limits, refusal: MemoryInvalid
    ) -> AppendResult:
        """Answers a call whose section is not declared, if it was applied while it was; else raises the refusal."""
        refusals.check_mode(limits.mode, call, memory.resource)
        named, tag = operation_args(operation)
        mark, digest, deadline, _ = named
        args = [packed(limits), mark, _KINDS[call], digest, deadline]
        reply = await self._run("recorded", memory, args, limits.user_sections)
        if reply == b"none":
            raise refusal
        return replies.appended(memory.resource, reply, tag, 0)

    async def read(self, memory: MemoryId, query: ReadQuery, limits: Limits) -> StoredView:
        """See Store."""
        reply = await self._run("read", memory, read_args(query, limits), limits.user_sections)
        return replies.view(memory.resource, reply, query.max_tokens)

    async def find(self, memory: MemoryId, ids: Sequence[str]) -> tuple[StoredEntry, ...]:
        """See Store."""
        reply = await self._run("find", memory, [NO_LIMITS, *(one.encode() for one in ids)])
        return replies.found(memory.resource, reply)

    async def scan(self, memory: MemoryId, cursor: str | None, count: int) -> ScanPage:
        """See Store."""
        stage, _, after = (cursor or "s:0").partition(":")
        args = [NO_LIMITS, stage.encode(), after.encode(), digits(count), digits(_PAGE_BYTES)]
        return replies.scanned(memory.resource, await self._run("scan", memory, args), stage)

    async def recorded(self, memory: MemoryId, operation_id: str, limits: Limits) -> AppendResult | None:
        """See Store."""
        mark, tag = mark_of(operation_id)
        reply = await self._run("recorded", memory, [packed(limits), mark, b"a", b""], limits.user_sections)
        return None if reply == b"none" else replies.appended(memory.resource, reply, tag, 0)

    async def touch(self, memory: MemoryId, ids: Sequence[str], limits: Limits) -> tuple[str, ...]:
        """See Store."""
        asked = tuple(dict.fromkeys(ids))
        reply = await self._run(
            "touch", memory, [packed(limits), *(one.encode() for one in asked)], limits.user_sections
        )
        return tuple(asked[int(position)] for position in reply.split())

    async def pin(
        self, memory: MemoryId, ids: Sequence[str], operation: Operation, limits: Limits, *, pinned: bool
    ) -> tuple[str, ...]:
        """See Store."""
        asked = tuple(dict.fromkeys(ids))
        named, _ = operation_args(operation)
        args = [packed(limits), *named, b"p" if pinned else b"-", *(one.encode() for one in asked)]
        return replies.pinned(memory.resource, await self._run("pin", memory, args, limits.user_sections), asked)

    async def delete(self, memory: MemoryId, ids: Sequence[str], operation: Operation, limits: Limits) -> DeleteResult:
        """See Store."""
        asked = tuple(dict.fromkeys(ids))
        named, _ = operation_args(operation)
        args = [packed(limits), *named, *(one.encode() for one in asked)]
        return replies.deleted(memory.resource, await self._run("delete", memory, args, limits.user_sections), asked)

    async def stats(self, memory: MemoryId, limits: Limits) -> MemoryStats:
        """See Store."""
        reply = await self._run("stats", memory, [packed(limits)], limits.user_sections, backups=())
        return replies.stats(memory.resource, reply, limits)

    async def ping(self) -> None:
        """See Store."""
        await self._link.ping()

    async def check_rights(self, memory: MemoryId) -> None:
        """See Store."""
        await self._ask_soon("check_rights", memory)

    async def close(self) -> None:
        """See Store."""
        await self._link.close()
