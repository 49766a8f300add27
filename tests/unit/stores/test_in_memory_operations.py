"""The record of operations is bounded by deadlines, never by count."""

from __future__ import annotations

import pytest

from durable_memory.memory.errors import MemoryBackpressure, MemoryOperationConflict
from durable_memory.memory.stores.in_memory.operations import OperationLog
from durable_memory.memory.stores.values import MOST_OPEN, Operation
from durable_memory.memory.types import ClearResult


def test_a_full_record_refuses_new_operations_until_a_deadline_passes_and_forgets_none() -> None:
    log = OperationLog("resource")
    for index in range(MOST_OPEN):
        log.record("append", Operation(str(index), index, ""), (f"id {index}",))
    with pytest.raises(MemoryBackpressure, match="resource: 100000 operations") as refused:
        log.check_room()
    assert refused.value.retry_after_ms is not None
    assert log.answered("append", Operation("0", 10**6, ""), 60_000) == ("id 0",)
    log.prune(60_001)
    log.check_room()
    assert log.answered("append", Operation("1", 10**6, ""), 60_001) == ("id 1",)


def test_an_empty_digest_compares_with_nothing() -> None:
    log = OperationLog("resource")
    log.record("append", Operation("one", 1000, "abc"), ("first",))
    assert log.answered("append", Operation("one", 1000, ""), 0) == ("first",)
    with pytest.raises(MemoryOperationConflict):
        log.answered("append", Operation("one", 1000, "other"), 0)


def test_the_owner_of_a_flush_is_an_operation_like_any_other() -> None:
    log = OperationLog("resource")
    log.record("clear", Operation("one", 1000, ""), ClearResult(1))
    with pytest.raises(MemoryOperationConflict):
        log.done("one", 0)
    assert log.done("two", 0) is None
