"""What serves the memories of one store, whoever calls."""

from __future__ import annotations

from dataclasses import dataclass, field

from durable_memory.memory.clock import Clock
from durable_memory.memory.flushing.steps import FlushSteps
from durable_memory.memory.operations.registration import KnownBindings
from durable_memory.memory.stores.index_port import ProjectIndex
from durable_memory.memory.stores.port import Store
from durable_memory.memory.tokens.counters import Counters
from durable_memory.memory.waking import FlushWaker


@dataclass(frozen=True, slots=True)
class Services:
    """The collaborators of every handle on a memory of one store, made once for each client.

    flush: runs the steps of a flush in this process. counters: count tokens. waker: wakes background flushers.
    known_bindings: what the index was told by this process.
    """

    store: Store
    index: ProjectIndex
    flush: FlushSteps
    counters: Counters
    waker: FlushWaker
    clock: Clock
    known_bindings: KnownBindings = field(default_factory=KnownBindings)
