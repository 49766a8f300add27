"""The in-memory driver: one process, nothing kept beyond it."""

from __future__ import annotations

from durable_memory.memory.clock import Clock, SystemClock
from durable_memory.memory.stores.in_memory.index import InMemoryProjectIndex
from durable_memory.memory.stores.in_memory.store import InMemoryStore
from durable_memory.memory.stores.port import Backend

__all__ = ["InMemoryProjectIndex", "InMemoryStore", "open_in_memory"]


def open_in_memory(clock: Clock | None = None) -> Backend:
    """Returns a store and an index of this process. clock: the time of deadlines, leases and expiry."""
    return Backend(InMemoryStore(clock or SystemClock()), InMemoryProjectIndex(), "memory of this process")
