"""What the handles on the memories of one store share."""

from __future__ import annotations

from dataclasses import dataclass, field

from durable_memory.memory.clock import Clock
from durable_memory.memory.flushing.steps import FlushSteps
from durable_memory.memory.operations.registration import Register
from durable_memory.memory.stores.index_port import ProjectIndex
from durable_memory.memory.stores.port import Store
from durable_memory.memory.tokens.counters import Counters
from durable_memory.memory.waking import FlushWaker


@dataclass(frozen=True, slots=True)
class Services:
    """The parts that serve the memories of one store, made once per event loop.

    register: what its index was told by this process.
    """

    store: Store
    index: ProjectIndex
    flush: FlushSteps
    counters: Counters
    waker: FlushWaker
    clock: Clock
    register: Register = field(default_factory=Register)
