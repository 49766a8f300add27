"""Memories behind a store that a test has wrapped, as by a ForwardingStore that fails at one step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from durable_memory import MemoryClient
from durable_memory.memory.stores.port import Store


def through(client: MemoryClient, wrap: Callable[[Store], Store]) -> MemoryClient:
    """Returns a client of the same memories, whose stores are wrapped. It need not be closed: `client` is."""
    opened = client.parts.backends
    wrapped = {persistence: replace(backend, store=wrap(backend.store)) for persistence, backend in opened.items()}
    return MemoryClient(client.registry, wrapped, project=client.project)
