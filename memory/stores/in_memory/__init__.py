"""The in-memory driver: one process, nothing kept beyond it."""

from durable_memory.memory.stores.in_memory.index import InMemoryProjectIndex
from durable_memory.memory.stores.in_memory.store import InMemoryStore, open_in_memory

__all__ = ["InMemoryProjectIndex", "InMemoryStore", "open_in_memory"]
