"""What the core measures, through the OpenTelemetry API.

Labels are bounded: resource, operation, outcome, policy; never a key. docs/telemetry.md lists what is measured.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import TracebackType
from typing import Final, Literal, Self

from opentelemetry import metrics

from durable_memory.memory.errors import MemoryConflict, MemoryFault, MemoryOperationConflict
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.operation_names import OperationName
from durable_memory.memory.spans import open_span
from durable_memory.memory.types import FlushOutcome, Message

_TOKENS: Final = (100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000)
_SHARES: Final = (0.1, 0.25, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)

SECONDS_BUCKETS: Final = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
"""Upper bounds of the buckets of every duration: from a fast script in Redis to a slow summary."""

_meter = metrics.get_meter("durable_memory")
_operations = _meter.create_counter("memory_operations", description="Operations on memories by outcome")
_durations = _meter.create_histogram(
    "memory_operation_duration",
    unit="s",
    description="Duration of operations",
    explicit_bucket_boundaries_advisory=SECONDS_BUCKETS,
)
_budget = _meter.create_histogram(
    "memory_budget_ratio",
    description="Share of the token budget that the view fills, after an append and after a flush",
    explicit_bucket_boundaries_advisory=_SHARES,
)
_view_tokens = _meter.create_histogram(
    "memory_view_tokens",
    description="Tokens of the view after an append and after a flush",
    explicit_bucket_boundaries_advisory=_TOKENS,
)
_overflow_tokens = _meter.create_histogram(
    "memory_overflow_tokens",
    description="Tokens that wait for their summary after a flush",
    explicit_bucket_boundaries_advisory=_TOKENS,
)
_evictions = _meter.create_counter("memory_evictions", description="Messages that left the view at an append")
_conflicts = _meter.create_counter("memory_conflicts", description="Calls refused for a version or an operation id")
_flushes = _meter.create_counter("memory_flush", description="Flushes by strategy and outcome")
_flush_durations = _meter.create_histogram(
    "memory_flush_duration",
    unit="s",
    description="Duration of flushes",
    explicit_bucket_boundaries_advisory=SECONDS_BUCKETS,
)
_overdue = _meter.create_gauge("memory_flushes_overdue", description="Flushes that are due for minutes and not done")
_summaries = _meter.create_counter("memory_summaries", description="Attempts of summarisers by outcome")
_model_tokens = _meter.create_counter("memory_model_tokens", description="Tokens that language models charged for")
_model_cost = _meter.create_counter(
    "memory_model_cost_usd", description="What language models cost by the public price list, in US dollars"
)
_lease_waits = _meter.create_histogram(
    "memory_lease_wait",
    unit="s",
    description="How long flushes wait for their lease",
    explicit_bucket_boundaries_advisory=SECONDS_BUCKETS,
)
_lost_leases = _meter.create_counter("memory_lease_lost", description="Flushes whose lease or batch was lost")
_estimated = _meter.create_counter("memory_tokens_estimated", description="Messages whose tokens were estimated")
_redactions = _meter.create_counter("memory_redactions", description="Secrets taken out before storing, by kind")
_truncated = _meter.create_counter("memory_truncations", description="Messages whose text was cut to fit")
_calibrations = _meter.create_counter("memory_token_calibrations", description="Requests to counting endpoints")
_janitor_actions = _meter.create_counter("memory_janitor_actions", description="What sweeps of the janitor did")
_breaker_changes = _meter.create_counter("memory_breaker_changes", description="Changes of state of circuit breakers")
_breaker_rejections = _meter.create_counter(
    "memory_breaker_rejections", description="Calls that an open circuit breaker refused"
)
_redis_retries = _meter.create_counter("memory_redis_retries", description="Attempts at Redis that had to be repeated")
_reloads = _meter.create_counter("memory_reloads", description="Declarations that were read again while running")
_lost_audits = _meter.create_counter("memory_audit_failures", description="Audit records that could not be written")
_failed_wakes = _meter.create_counter("memory_failed_wakes", description="Flushers that could not be told of due work")


class MeasuredCall:
    """Counts and times one call and gives it its span; outcome: `ok`, the error's type, `cancelled` or `error`."""

    __slots__ = ("_memory", "_operation", "_span", "_started")

    def __init__(self, operation: OperationName, memory: MemoryId) -> None:
        self._operation: OperationName = operation
        self._memory = memory

    def __enter__(self) -> Self:
        self._started = time.perf_counter()
        self._span = open_span(self._operation, self._memory, self._started)
        return self

    def records(self, messages: Sequence[Message]) -> None:
        """Tells the span, if there is one, which messages went in or came out."""
        if self._span is not None:
            self._span.records(messages)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        seconds = time.perf_counter() - self._started
        resource = self._memory.resource
        failed = None if error is None else _failure(error)
        if self._span is not None:
            self._span.end(error)
        _operations.add(1, {"operation": self._operation, "resource": resource, "outcome": failed or "ok"})
        _durations.record(seconds, {"operation": self._operation, "resource": resource})
        if isinstance(error, (MemoryConflict, MemoryOperationConflict)):
            _conflicts.add(1, {"resource": resource, "type": error.type})


def count_refused(operation: OperationName, resource: str, fault: MemoryFault) -> None:
    """Counts a call that was refused before it was made."""
    _operations.add(1, {"operation": operation, "resource": resource, "outcome": fault.type})


def record_view(resource: str, tokens: int, max_tokens: int | None) -> None:
    """Records how full a view is."""
    labels = {"resource": resource}
    _view_tokens.record(tokens, labels)
    if max_tokens:
        _budget.record(tokens / max_tokens, labels)


def record_overflow(resource: str, tokens: int) -> None:
    """Records how much waits for its summary."""
    _overflow_tokens.record(tokens, {"resource": resource})


def count_evictions(resource: str, policy: str, reason: str, messages: int) -> None:
    """Counts messages that left the view at an append: reason `overflow` (they wait) or `dropped` (they are gone)."""
    _evictions.add(messages, {"resource": resource, "policy": policy, "reason": reason})


def count_flush(resource: str, strategy: str, outcome: FlushOutcome | Literal["failed"], seconds: float) -> None:
    """Counts one flush that ended."""
    labels = {"resource": resource, "strategy": strategy, "outcome": outcome}
    _flushes.add(1, labels)
    _flush_durations.record(seconds, {"resource": resource, "strategy": strategy})


def record_overdue(resource: str, flushes: int) -> None:
    """Records how many memories of a resource have a flush that is overdue."""
    _overdue.set(flushes, {"resource": resource})


def count_summary(resource: str, summarizer: str, outcome: str) -> None:
    """Counts one attempt of a summariser: `written`, `fallback` (the rules wrote instead), or the type of the error."""
    _summaries.add(1, {"resource": resource, "summarizer": summarizer, "outcome": outcome})


def count_model_use(
    resource: str, model: str, input_tokens: int | None, output_tokens: int | None, cost_usd: Decimal | None
) -> None:
    """Counts what one request to a language model cost; None is unknown, and counted as nothing."""
    labels = {"resource": resource, "model": model}
    _model_tokens.add(input_tokens or 0, {**labels, "direction": "input"})
    _model_tokens.add(output_tokens or 0, {**labels, "direction": "output"})
    _model_cost.add(float(cost_usd or 0), labels)


def record_lease_wait(resource: str, outcome: Literal["taken", "busy"], seconds: float) -> None:
    """Records how long a flush waited for its lease (`taken`), or has to wait until it may ask again (`busy`)."""
    _lease_waits.record(seconds, {"resource": resource, "outcome": outcome})


def count_lost_lease(resource: str) -> None:
    """Counts a flush that lost its lease, or its batch to a write or a delete; it changes nothing any more."""
    _lost_leases.add(1, {"resource": resource})


def count_estimated(resource: str, messages: int) -> None:
    """Counts messages whose tokens were estimated: no tokenizer is published, or it could not be loaded."""
    _estimated.add(messages, {"resource": resource})


def count_redactions(resource: str, found: Mapping[str, int]) -> None:
    """Counts what a privacy policy took out: by the entity that was recognised, or `pattern`."""
    for kind, times in found.items():
        _redactions.add(times, {"resource": resource, "kind": kind})


def count_calibration(provider: str, outcome: str) -> None:
    """Counts a request to a provider's counting endpoint: `ok`, or why it gave no number."""
    _calibrations.add(1, {"provider": provider, "outcome": outcome})


def count_truncated(resource: str, messages: int) -> None:
    """Counts messages that were larger than their room, and whose text was cut."""
    if messages:
        _truncated.add(messages, {"resource": resource})


def count_failed_wake(resource: str) -> None:
    """Counts a flusher that could not be told; the janitor finds what is due."""
    _failed_wakes.add(1, {"resource": resource})


def count_lost_audit(operation: str) -> None:
    """Counts a record of the audit that its file did not take; it stands in the log as an error instead."""
    _lost_audits.add(1, {"operation": operation})


def count_breaker_change(resource: str, state: Literal["closed", "open", "half_open"]) -> None:
    """Counts that a circuit breaker became `open`, `half_open` or `closed`."""
    _breaker_changes.add(1, {"resource": resource, "state": state})


def count_breaker_rejection(resource: str) -> None:
    """Counts a call that an open circuit breaker refused."""
    _breaker_rejections.add(1, {"resource": resource})


def count_redis_retry(error: str) -> None:
    """Counts an attempt of a call to Redis that failed in a way that may pass. error: the kind of its error."""
    _redis_retries.add(1, {"error": error})


def count_reload(outcome: Literal["ok", "failed"]) -> None:
    """Counts that declarations were read again: `ok`, or `failed` where the old ones stayed in force."""
    _reloads.add(1, {"outcome": outcome})


def count_janitor(action: str, times: int) -> None:
    """Counts what a sweep did; an action that was never needed shows as zero."""
    _janitor_actions.add(times, {"action": action})


def _failure(error: BaseException) -> str:
    if isinstance(error, MemoryFault):
        return error.type
    return "cancelled" if isinstance(error, asyncio.CancelledError) else "error"
