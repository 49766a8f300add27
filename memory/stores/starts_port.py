"""The port of late starts: for an activity that started long after it was scheduled, from when its calls count."""

from __future__ import annotations

from typing import Protocol


class Starts(Protocol):
    """Keeps one time for each activity, so that all its attempts count from the same. Each call is one atomic step."""

    async def first(self, project: str, activity: str, proposed_ms: int, kept_ms: int) -> int:
        """Notes `proposed_ms` unless a time is noted, and returns the one that stands.

        activity: what all attempts of the activity have in common. kept_ms: how long the note is kept. Raises
        MemoryUnavailable.
        """
        ...
