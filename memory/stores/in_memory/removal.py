"""The side of the in-memory store that removes a memory, or brings it back from a backup."""

from __future__ import annotations

import secrets
from dataclasses import replace

from durable_memory.memory.access import Mode
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.privacy.sealed_payload import seal_of
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.in_memory.answers import repeated
from durable_memory.memory.stores.in_memory.shelves import KeptBackup, OnShelves, check_version, tag_of
from durable_memory.memory.stores.port import CheckReadable, unchecked
from durable_memory.memory.stores.values import BACKUP_LIFETIME_MS, Erased, Operation
from durable_memory.memory.types import AppendResult, ClearResult


class InMemoryRemoval(OnShelves):
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
        refusals.check_mode(mode, "clear", memory.resource)
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        answer = shelf.operations.answered("clear", operation, now)
        if isinstance(answer, ClearResult):
            return replace(answer, already_applied=True)
        check_version(shelf.state, if_version, memory.resource)
        shelf.operations.check_room()
        result = ClearResult(shelf.messages)
        if backup and shelf.state is not None:
            result = ClearResult(result.cleared, secrets.token_hex(8))
            kept = KeptBackup(shelf.state, result.cleared, now, now + BACKUP_LIFETIME_MS)
            shelf.backups[result.backup_id or ""] = kept
        shelf.state = None
        shelf.operations.record("clear", operation, result)
        return result

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
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        ids = shelf.operations.answered("restore", operation, now)
        if isinstance(ids, tuple):
            return repeated(ids, shelf.state, limits)
        check_version(shelf.state, if_version, memory.resource)
        backup = shelf.backups.get(backup_id)
        if backup is None:
            raise refusals.backup_unknown(memory.resource)
        shelf.operations.check_room()
        held = [group.entries[number] for number, group in backup.state.where.items()]
        for entry in {seal_of(entry.payload): entry for entry in held}.values():
            check_readable(entry)
        removed = shelf.messages
        shelf.state = backup.state.reborn(secrets.token_hex(8))
        shelf.state.changed(tag_of(operation.id), now)
        shelf.state.written(now, limits)
        shelf.operations.record("restore", operation, ())
        return replace(repeated((), shelf.state, limits), already_applied=False, created=True, removed=removed)

    async def erase(self, memory: MemoryId, *, born_until_ms: int, mode: Mode) -> Erased:
        """See Store."""
        refusals.check_mode(mode, "erase", memory.resource)
        shelf = self._shelves.shelf(memory, self._clock.now_ms())
        state, messages, backups = shelf.state, shelf.messages, len(shelf.backups)
        shelf.backups.clear()
        if state is not None and state.created_ms > born_until_ms:
            return Erased(existed=False, version=None, messages=0, backups=backups, kept=True)
        shelf.state = None
        if state is None:
            return Erased(existed=False, version=None, messages=0, backups=backups)
        return Erased(existed=True, version=state.version, messages=messages, backups=backups)
