"""What the core measures, through the OpenTelemetry API.

Labels are bounded: resource, operation, outcome, policy; never a key.
"""

from __future__ import annotations

import time
from types import TracebackType

from opentelemetry import metrics

from durable_memory.memory.errors import MemoryFault

_meter = metrics.get_meter("durable_memory")
_operations = _meter.create_counter("memory_operations", description="Operations on memories by outcome")
_durations = _meter.create_histogram("memory_operation_duration", unit="s", description="Duration of operations")
_evictions = _meter.create_counter("memory_evictions", description="Messages that left the view at an append")
_flushes = _meter.create_counter("memory_flush", description="Flushes by strategy and outcome")
_flush_durations = _meter.create_histogram("memory_flush_duration", unit="s", description="Duration of flush steps")
_estimated = _meter.create_counter("memory_tokens_estimated", description="Messages whose tokens were estimated")
_janitor_actions = _meter.create_counter("memory_janitor_actions", description="What sweeps of the janitor did")
_failed_wakes = _meter.create_counter("memory_failed_wakes", description="Flushers that could not be told of due work")


class measured:  # noqa: N801 - used like a function: `with measured("append", resource):`
    """Counts and times one operation; its outcome is `ok`, the error's type, or `error`."""

    __slots__ = ("_operation", "_resource", "_started")

    def __init__(self, operation: str, resource: str) -> None:
        self._operation = operation
        self._resource = resource

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        outcome = "ok" if error is None else error.type if isinstance(error, MemoryFault) else "error"
        seconds = time.perf_counter() - self._started
        _operations.add(1, {"operation": self._operation, "resource": self._resource, "outcome": outcome})
        _durations.record(seconds, {"operation": self._operation, "resource": self._resource})


def count_evictions(resource: str, policy: str, reason: str, messages: int) -> None:
    """Counts messages that left the view at an append: reason `overflow` (they wait) or `dropped` (they are gone)."""
    _evictions.add(messages, {"resource": resource, "policy": policy, "reason": reason})


def count_flush(resource: str, strategy: str, outcome: str, seconds: float) -> None:
    """Counts one flush, or one step of a durable flush, that ended."""
    labels = {"resource": resource, "strategy": strategy, "outcome": outcome}
    _flushes.add(1, labels)
    _flush_durations.record(seconds, {"resource": resource, "strategy": strategy})


def count_estimated(resource: str, messages: int) -> None:
    """Counts messages whose tokens were estimated, since no tokenizer could be had."""
    _estimated.add(messages, {"resource": resource})


def count_failed_wake(resource: str) -> None:
    """Counts a flusher that could not be told; the janitor finds what is due."""
    _failed_wakes.add(1, {"resource": resource})


def count_janitor(action: str, times: int) -> None:
    """Counts what a sweep did; an action that was never needed shows as zero."""
    _janitor_actions.add(times, {"action": action})
