"""By which hash logs, spans and audit name a memory, for those who look for it there or read of it."""

from __future__ import annotations

from durable_memory.memory.hashing import memory_hash
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.settings import Settings


def hash_in_logs(settings: Settings, memory: MemoryId) -> dict[str, str]:
    """Returns the field `memory_hash`; none where each process has a secret of its own, and so other hashes.

    settings: those of the client that was opened, which puts their secret behind the hashes.
    """
    return {} if settings.telemetry_key is None else {"memory_hash": memory_hash(memory)}
