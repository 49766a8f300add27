"""The name of a task queue, held to what Temporal takes: its server fails the task of a workflow for ever otherwise."""

from __future__ import annotations

from typing import Final

from durable_memory.memory.types.clean import InvalidValue, refuse_broken_text

MAX_QUEUE_BYTES: Final = 1000
"""How long a name may be. The server counts it encoded, and calls that characters."""

_RESERVED: Final = "/_sys/"
"""How the names of the server's own queues begin."""


def check_task_queue(name: object, path: str, *, longest: int = MAX_QUEUE_BYTES) -> None:
    """Raises InvalidValue for what is no name of a task queue. longest: how many bytes of UTF-8 it may have."""
    if not isinstance(name, str) or not name.strip():
        raise InvalidValue(path, "is not the name of a task queue")
    refuse_broken_text(name, path)
    size = len(name.encode())
    if size > longest:
        raise InvalidValue(path, f"has {size:,} bytes, the limit is {longest:,}")
    if name.startswith(_RESERVED):
        raise InvalidValue(path, f"begins with {_RESERVED}, which is for Temporal's own task queues")
