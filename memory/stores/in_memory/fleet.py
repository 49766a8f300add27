"""The fleet of one process."""

from __future__ import annotations

from collections import defaultdict

from durable_memory.memory.clock import Clock


class InMemoryFleet:
    """The Fleet port in this process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._noted: dict[tuple[str, str], dict[str, tuple[int, str]]] = defaultdict(dict)
        """By project and queue: until when each worker is noted, and its fingerprint."""

    async def tell(self, project: str, queue: str, worker: str, declarations: str, kept_ms: int) -> None:
        """See Fleet."""
        now_ms = self._clock.now_ms()
        noted = {one: note for one, note in self._noted[project, queue].items() if now_ms < note[0]}
        self._noted[project, queue] = {**noted, worker: (now_ms + kept_ms, declarations)}

    async def leave(self, project: str, queue: str, worker: str) -> None:
        """See Fleet."""
        self._noted[project, queue].pop(worker, None)

    async def differs(self, project: str, queue: str, declarations: str) -> bool:
        """See Fleet."""
        now_ms = self._clock.now_ms()
        noted = self._noted[project, queue].values()
        return any(now_ms < until and other != declarations for until, other in noted)
