"""Where the memories of one process lie: expiry, and the records of operations that outlive a memory."""

from __future__ import annotations

import hashlib
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from durable_memory.memory.clock import Clock, SystemClock
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.in_memory.operations import OperationLog
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.values import ABSENT, KEPT_AFTER_DEADLINE_MS

_LOOKED_AT_PER_CALL: Final = 2


@dataclass(frozen=True, slots=True)
class KeptBackup:
    """What a clear has kept, until when."""

    state: MemoryState
    messages: int
    created_ms: int
    ends_ms: int


@dataclass(slots=True)
class Shelf:
    """A memory, the record of its operations, and its backups; each may be absent."""

    operations: OperationLog
    state: MemoryState | None = None
    backups: dict[str, KeptBackup] = field(default_factory=dict)

    @property
    def messages(self) -> int:
        """How many messages the memory holds: live, waiting and summaries."""
        return 0 if self.state is None else sum(tally.messages for tally in self.state.tallies.values())


class Shelves:
    """The shelves of all memories. Each mutating call also looks at two others, so that nothing expired stays."""

    def __init__(self) -> None:
        self._shelves: dict[MemoryId, Shelf] = {}
        self._round: deque[MemoryId] = deque()

    def state(self, memory: MemoryId, now_ms: int) -> MemoryState | None:
        """Returns the memory if it exists now."""
        shelf = self._shelves.get(memory)
        return None if shelf is None else self._expire(shelf, now_ms).state

    def shelf(self, memory: MemoryId, now_ms: int) -> Shelf:
        """Returns the place of a memory for a mutating call."""
        self._tidy(now_ms)
        shelf = self._shelves.get(memory)
        if shelf is None:
            shelf = self._shelves[memory] = Shelf(OperationLog(memory.resource))
            self._round.append(memory)
        return self._expire(shelf, now_ms)

    def __len__(self) -> int:
        return len(self._shelves)

    def clear(self) -> None:
        """Empties all shelves."""
        self._shelves.clear()
        self._round.clear()

    def _tidy(self, now_ms: int) -> None:
        for _ in range(min(_LOOKED_AT_PER_CALL, len(self._round))):
            memory = self._round.popleft()
            shelf = self._expire(self._shelves[memory], now_ms)
            shelf.operations.prune(now_ms)
            if shelf.state is None and not len(shelf.operations) and not shelf.backups:
                del self._shelves[memory]
            else:
                self._round.append(memory)

    @staticmethod
    def _expire(shelf: Shelf, now_ms: int) -> Shelf:
        expires_ms = None if shelf.state is None else shelf.state.expires_ms
        if expires_ms is not None and now_ms >= expires_ms:
            shelf.state = None
        for backup_id in [one for one, backup in shelf.backups.items() if backup.ends_ms <= now_ms]:
            del shelf.backups[backup_id]
        return shelf


class OnShelves:
    """What the parts of the driver stand on. clock: the time of deadlines, leases and expiry."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._shelves = Shelves()


def check_version(state: MemoryState | None, wanted: str | None, resource: str) -> None:
    """Raises MemoryConflict if the memory does not have this version. None: any will do."""
    version = ABSENT if state is None else state.version
    if wanted is not None and wanted != version:
        raise refusals.version_conflict(resource, version, wanted)


def until_ms(shelf: Shelf, deadline_ms: int) -> int:
    """How long calls of a group that goes now are remembered: until every operation open now has ended."""
    return max(shelf.operations.last_end_ms, deadline_ms + KEPT_AFTER_DEADLINE_MS)


def tag_of(nonce: str) -> str:
    """Returns the tag of an operation id or a batch id."""
    return hashlib.sha256(nonce.encode()).hexdigest()[:4]
