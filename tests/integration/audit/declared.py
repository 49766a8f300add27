"""The memories that these tests remove from, and agents that may not."""

from __future__ import annotations

from typing import Any

from durable_memory import Registry


def registry(persistence: str = "redis") -> Registry:
    """The declarations, with their memories in Redis or in the process."""
    kept: dict[str, Any] = {"persistence": {"type": persistence}}
    drops = {"type": "message_count_based", "max_messages": 4, "flushing": {"type": "drop", "keep_last": 0}}
    return Registry.from_resources(
        [
            {"resource": "memory", "id": "desk", "max_tokens": 2000, "scope": "user", **kept},
            {"resource": "memory", "id": "ring", "scope": "user", **drops, **kept},
            {"resource": "memory", "id": "scratch", "max_tokens": 2000, "scope": "temp", **kept},
            {"resource": "memory", "id": "vault", "max_tokens": 2000, "agents_only": True, **kept},
            {"resource": "agent", "id": "reader", "memories": [{"id": "desk", "mode": "read-only"}]},
        ]
    )
