"""The record of a memory's operations: what makes a repeated call answer instead of acting again."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Literal, TypeAlias

from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.values import KEPT_AFTER_DEADLINE_MS, MOST_OPEN, Operation
from durable_memory.memory.types import ClearResult, DeleteResult, FlushResult

Kind: TypeAlias = Literal["append", "write", "pin", "unpin", "delete", "clear", "restore", "drop", "flush"]
Answer: TypeAlias = "tuple[str, ...] | DeleteResult | ClearResult | FlushResult"
"""What is kept of the first call: the ids of an append, a write or a pin, or the whole result."""


@dataclass(frozen=True, slots=True)
class _Record:
    kind: Kind
    digest: str
    answer: Answer


class OperationLog:
    """Operations by id, each kept until a minute after its deadline: never fewer, since a retry would act twice.

    It outlives clear and expiry of its memory.
    """

    def __init__(self, resource: str) -> None:
        self._resource = resource
        self._records: dict[str, _Record] = {}
        self._ends: list[tuple[int, str]] = []
        self.last_end_ms = 0
        """When the longest operation so far ends, its time of grace included."""

    def __len__(self) -> int:
        return len(self._records)

    def answered(self, kind: Kind, operation: Operation, now_ms: int) -> Answer | None:
        """Returns what the first call was answered, or None if this is the first.

        Raises MemoryOperationExpired, MemoryOperationConflict.
        """
        if now_ms > operation.deadline_ms:
            raise refusals.operation_expired(self._resource)
        return self._known(kind, operation.id, operation.digest, now_ms)

    def done(self, flush_id: str, now_ms: int) -> Answer | None:
        """Returns the result of a flush round if it has committed. Raises MemoryOperationConflict."""
        return self._known("flush", flush_id, "", now_ms)

    def check_room(self) -> None:
        """Raises MemoryBackpressure if there is no place for another operation."""
        if len(self._records) >= MOST_OPEN:
            raise refusals.too_many_operations(self._resource, MOST_OPEN)

    def record(self, kind: Kind, operation: Operation, answer: Answer) -> None:
        """Keeps the answer of an operation that was applied."""
        end_ms = operation.deadline_ms + KEPT_AFTER_DEADLINE_MS
        self.last_end_ms = max(self.last_end_ms, end_ms)
        self._records[operation.id] = _Record(kind, operation.digest, answer)
        heapq.heappush(self._ends, (end_ms, operation.id))

    def prune(self, now_ms: int) -> None:
        """Drops the records whose time is over."""
        while self._ends and self._ends[0][0] < now_ms:
            del self._records[heapq.heappop(self._ends)[1]]

    def _known(self, kind: Kind, operation_id: str, digest: str, now_ms: int) -> Answer | None:
        self.prune(now_ms)
        record = self._records.get(operation_id)
        if record is None:
            return None
        differs = bool(record.digest and digest) and record.digest != digest
        if differs or record.kind != kind:
            raise refusals.operation_id_reused(self._resource)
        return record.answer
