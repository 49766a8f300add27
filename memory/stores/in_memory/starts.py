"""The late starts of one process."""

from __future__ import annotations

from durable_memory.memory.clock import Clock


class InMemoryStarts:
    """The Starts port in this process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._noted: dict[tuple[str, str], tuple[int, int]] = {}
        """When the note ends, and the time."""

    async def first(self, project: str, activity: str, proposed_ms: int, kept_ms: int) -> int:
        """See Starts."""
        now_ms = self._clock.now_ms()
        self._noted = {name: note for name, note in self._noted.items() if now_ms < note[0]}
        _, first_ms = self._noted.setdefault((project, activity), (now_ms + kept_ms, proposed_ms))
        return first_ms
