"""What the product's own workflows send and get: the steps of a flusher, the cleanup, and the janitor's sweep.

It is part of the wire contract as what callers send: a request may wait for a worker of another version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from durable_memory.activities.wire import CONTRACT
from durable_memory.memory.types import FlushOutcome


@dataclass(frozen=True, slots=True)
class CleanupRequest:
    """The request of memory.cleanup: the workflow that ends. The interceptor sends it."""

    workflow_id: str
    run_id: str
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class FlushTarget:
    """The memory of a flusher; the key is the rendered one."""

    project: str
    resource: str
    key: str


@dataclass(frozen=True, slots=True)
class FlusherInput:
    """The input of a flusher's workflow: its memory, and after continue-as-new the flags as they were."""

    target: FlushTarget
    due: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class BeginRequest:
    """The request of memory.flush.begin. `owner` names the round, the same for all attempts, never used again."""

    target: FlushTarget
    owner: str
    force: bool = False
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class BatchField:
    """The flush in progress, as memory.flush.begin answered it; `begun_ms` is when, in Unix milliseconds."""

    incarnation: str
    fence: int
    owner: str
    id: str
    messages: int
    tokens: int
    summary_max: int
    begun_ms: int


@dataclass(frozen=True, slots=True)
class BeginAnswer:
    """The answer of memory.flush.begin: the batch to work on, or what the flusher reads of a flush result.

    queue: where the summary is to be written, if not on this queue.
    """

    outcome: FlushOutcome | Literal["batch"]
    batch: BatchField | None = None
    queue: str | None = None
    retry_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """The answer of memory.flush.summarize and memory.flush.fail. gone, stale: the step has become useless."""

    outcome: Literal["drafted", "failed", "gone", "stale"]


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """The request of memory.flush.summarize and memory.flush.commit."""

    target: FlushTarget
    batch: BatchField
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class FailRequest:
    """The request of memory.flush.fail: why the summary could not be written, as the type of the error."""

    target: FlushTarget
    batch: BatchField
    error_type: str
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """The request of memory.janitor.sweep. `position` is what an earlier sweep answered where it stopped."""

    project: str
    position: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class SweepAnswer:
    """The answer of memory.janitor.sweep: how far it came, null at the end, and what it did."""

    position: str | None
    counts: Mapping[str, int]
