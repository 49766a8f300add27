"""The port of late starts: from when on the calls of an activity count that started long after it was scheduled."""

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
