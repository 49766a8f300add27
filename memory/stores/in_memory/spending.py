"""The spending of one process."""

from __future__ import annotations

from durable_memory.memory.clock import Clock

_MS_A_DAY = 86_400_000


class InMemorySpending:
    """The Spending port in this process, which keeps the sums of today alone."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sums: dict[tuple[str, str], tuple[int, int]] = {}

    async def set_aside(self, project: str, resource: str, tokens: int, limit: int) -> int | None:
        """See Spending."""
        today, spent = self._today(project, resource)
        if spent + tokens > limit:
            return None
        self._sums[project, resource] = (today, spent + tokens)
        return today

    async def put_right(self, project: str, resource: str, day: int, difference: int) -> None:
        """See Spending."""
        today, spent = self._today(project, resource)
        if day == today:
            self._sums[project, resource] = (today, max(0, spent + difference))

    async def spent(self, project: str, resource: str) -> int:
        """See Spending."""
        return self._today(project, resource)[1]

    def _today(self, project: str, resource: str) -> tuple[int, int]:
        today = self._clock.now_ms() // _MS_A_DAY
        day, spent = self._sums.get((project, resource), (today, 0))
        return today, spent if day == today else 0
