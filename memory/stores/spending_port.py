"""The spending port: how many language-model tokens each resource has used today, for all processes together."""

from __future__ import annotations

from typing import Protocol


class Spending(Protocol):
    """Counts tokens by project, resource and day (UTC, by the store's clock). Each call is one atomic step."""

    async def set_aside(self, project: str, resource: str, tokens: int, limit: int) -> int | None:
        """Counts `tokens` if today's sum stays within `limit`. Returns the day, or None if it would not."""
        ...

    async def put_right(self, project: str, resource: str, day: int, difference: int) -> None:
        """Adds a difference, mostly a negative one, to the sum of `day`; nothing if that day is over."""
        ...

    async def spent(self, project: str, resource: str) -> int:
        """Returns today's sum."""
        ...
