"""The requests that the project's own workflows send: of a flusher's steps, of the cleanup, and of the janitor's sweep.

They are part of the wire contract like those of callers: a request may wait for a worker of another version.
"""

from __future__ import annotations

from dataclasses import dataclass

from durable_memory.activities.wire import CONTRACT


@dataclass(frozen=True, slots=True)
class CleanupRequest:
    """Of memory.cleanup: the workflow that ends. The interceptor sends it."""

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
class BeginRequest:
    """Of memory.flush.begin. `owner` names the round, the same for all attempts, never used again."""

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
class BatchRequest:
    """Of memory.flush.summarize and memory.flush.commit."""

    target: FlushTarget
    batch: BatchField
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class FailRequest:
    """Of memory.flush.fail: why the summary could not be written, as the type of the error."""

    target: FlushTarget
    batch: BatchField
    error_type: str
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """Of memory.janitor.sweep. `position` is where an earlier sweep of the project stopped, as it answered it."""

    project: str
    position: str | None = None
    contract: int = CONTRACT
