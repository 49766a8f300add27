"""What a driver opens: all of its ports, on the same connections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from durable_memory.memory.stores.breaker import Breaker
from durable_memory.memory.stores.fleet_port import Fleet
from durable_memory.memory.stores.index_port import ProjectIndex
from durable_memory.memory.stores.key_checks_port import KeyChecks
from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.spending_port import Spending
from durable_memory.memory.stores.starts_port import Starts


def _any_loop() -> None:
    """What has no connections belongs to no loop."""


@dataclass(frozen=True, slots=True)
class Backend:
    """One opened driver: the store of memories, and what is kept of their projects beside them.

    starts: of activities that began late. fleet: the workers, and what they declare. guarded: returns the same backend
    with a circuit breaker before it; None where nothing can be unavailable. warnings: one sentence for each setting of
    its server under which acknowledged messages can be lost. check_loop: raises MemoryInvalid in another event loop
    than that of its connections. encrypts: whether its store keeps no payload in plain text, as
    `privacy_policy.require_encryption` asks.
    """

    store: Store
    index: ProjectIndex
    spending: Spending
    starts: Starts
    fleet: Fleet
    key_checks: KeyChecks
    guarded: Callable[[Breaker], Backend] | None = None
    warnings: tuple[str, ...] = ()
    check_loop: Callable[[], None] = _any_loop
    encrypts: bool = False
