"""The port of the fleet: with which declarations the workers of a task queue run."""

from __future__ import annotations

from typing import Protocol


class Fleet(Protocol):
    """Keeps, for each queue of a project, what its workers say that they declare. Each call is one atomic step.

    worker: what tells a worker from all others. declarations: a fingerprint of all that it declares.
    """

    async def tell(self, project: str, queue: str, worker: str, declarations: str, kept_ms: int) -> None:
        """Notes what a worker declares, in place of what it said before; the note is kept for `kept_ms`.

        Raises MemoryUnavailable.
        """
        ...

    async def leave(self, project: str, queue: str, worker: str) -> None:
        """Forgets a worker. Raises MemoryUnavailable."""
        ...

    async def differs(self, project: str, queue: str, declarations: str) -> bool:
        """Tells whether a worker of the queue declares something else than this. Raises MemoryUnavailable."""
        ...
