"""The side of the Redis driver that removes a memory, or brings it back from a backup."""

from __future__ import annotations

import secrets
from typing import Final

from durable_memory.memory.access import Mode
from durable_memory.memory.errors import MemoryDamaged
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.port import CheckReadable, unchecked
from durable_memory.memory.stores.redis import replies
from durable_memory.memory.stores.redis.arguments import digest_of, digits, mark_of, no_limits, operation_args, packed
from durable_memory.memory.stores.redis.link import Reply
from durable_memory.memory.stores.redis.script_runner import ScriptRunner
from durable_memory.memory.stores.values import BACKUP_LIFETIME_MS, Erased, Operation
from durable_memory.memory.types import AppendResult, ClearResult

_BACKUPS: Final = b"backups "
_LOOK: Final = b"look "


class RedisRemoval(ScriptRunner):
    """Clear, restore and erase of the Store port."""

    async def clear(
        self,
        memory: MemoryId,
        operation: Operation,
        if_version: str | None = None,
        *,
        backup: bool = False,
        mode: Mode,
    ) -> ClearResult:
        """See Store."""
        try:
            return await self._clear(memory, operation, if_version, backup=backup, mode=mode)
        except MemoryDamaged:
            if backup or if_version is not None:
                raise
            await self._run("heal", memory, [no_limits(mode)])
            return await self._clear(memory, operation, if_version, backup=False, mode=mode)

    async def _clear(
        self, memory: MemoryId, operation: Operation, if_version: str | None, *, backup: bool, mode: Mode
    ) -> ClearResult:
        mark, _ = mark_of(operation.id)
        version = (if_version or "").encode()
        args = [no_limits(mode), mark, digest_of(operation.digest), digits(operation.deadline_ms), version]
        if not backup:
            reply = await self._run("clear", memory, args, backups=())
            return replies.cleared(memory.resource, reply, if_version)
        backup_id = secrets.token_hex(8)
        args += [backup_id.encode(), digits(BACKUP_LIFETIME_MS)]
        reply = await self._run("clear", memory, args, backups=(backup_id,))
        return replies.cleared(memory.resource, reply, if_version)

    async def restore(
        self,
        memory: MemoryId,
        backup_id: str,
        operation: Operation,
        limits: Limits,
        if_version: str | None,
        check_readable: CheckReadable = unchecked,
    ) -> AppendResult:
        """See Store."""
        refusals.check_mode(limits.mode, "restore", memory.resource)
        if not refusals.is_backup_id(backup_id):
            raise refusals.backup_unknown(memory.resource)
        named, tag = operation_args(operation)
        args = [
            packed(limits),
            *named,
            secrets.token_hex(8).encode(),
            (if_version or "").encode(),
            backup_id.encode(),
        ]

        async def run(step: bytes) -> Reply:
            return await self._run("restore", memory, [*args, step], limits.user_sections, backups=(backup_id,))

        # Nothing changes a backup once it is made, so what holds at the first step holds at the second.
        reply = await run(b"look")
        if reply.startswith(_LOOK):
            for entry in replies.of_backup(memory.resource, reply.removeprefix(_LOOK)):
                check_readable(entry)
            reply = await run(b"go")
        return replies.appended(memory.resource, reply, tag, 0, if_version)

    async def erase(self, memory: MemoryId, *, born_until_ms: int, mode: Mode) -> Erased:
        """See Store."""
        try:
            return await self._erase(memory, born_until_ms, mode)
        except MemoryDamaged:
            await self._run("heal", memory, [no_limits(mode)])
            return await self._erase(memory, born_until_ms, mode)

    async def _erase(self, memory: MemoryId, born_until_ms: int, mode: Mode) -> Erased:
        args, backups = [no_limits(mode), digits(born_until_ms)], tuple[str, ...]()
        while (reply := await self._run("erase", memory, args, backups=backups)).startswith(_BACKUPS):
            # Each names some that were not named to it: one that another client makes meanwhile is in the next answer.
            backups += tuple(reply.removeprefix(_BACKUPS).decode().split(" "))
        return replies.erased(memory.resource, reply)
