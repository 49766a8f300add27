"""The spending of one process."""

from __future__ import annotations

from dataclasses import dataclass, field

from durable_memory.memory.clock import Clock

_MS_A_DAY = 86_400_000


@dataclass(slots=True)
class _Spent:
    day: int
    tokens: int = 0
    open: dict[str, int] = field(default_factory=dict)
    """What requests have reserved that are not settled yet."""


class InMemorySpending:
    """The Spending port in this process, which keeps the sums of today alone."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._spent: dict[tuple[str, str], _Spent] = {}

    async def reserve(self, project: str, resource: str, request: str, tokens: int, limit: int) -> int | None:
        """See Spending."""
        today = self._today(project, resource)
        if request not in today.open:
            if today.tokens + tokens > limit:
                return None
            today.tokens += tokens
            today.open[request] = tokens
        return today.day

    async def settle(self, project: str, resource: str, request: str, tokens: int, day: int) -> None:
        """See Spending."""
        today = self._today(project, resource)
        if day == today.day and request in today.open:
            today.tokens += tokens - today.open.pop(request)

    async def spent(self, project: str, resource: str) -> int:
        """See Spending."""
        return self._today(project, resource).tokens

    def _today(self, project: str, resource: str) -> _Spent:
        day = self._clock.now_ms() // _MS_A_DAY
        spent = self._spent.get((project, resource))
        if spent is None or spent.day != day:
            spent = self._spent[project, resource] = _Spent(day)
        return spent
