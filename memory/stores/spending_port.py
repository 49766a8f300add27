"""The spending port: how many language-model tokens each resource has used today, for all processes together."""

from __future__ import annotations

from typing import Protocol


class Spending(Protocol):
    """Counts tokens by project, resource and day (UTC, by the store's clock). Each call is one atomic step.

    A call may be repeated, as its answer may be lost, until its request is put right: it names the request, whose id
    was never used before.
    """

    async def set_aside(self, project: str, resource: str, request: str, tokens: int, limit: int) -> int | None:
        """Counts the tokens of a new request if today's sum stays within `limit`. Returns the day, or None if not."""
        ...

    async def put_right(self, project: str, resource: str, request: str, tokens: int, day: int) -> None:
        """Lets a request that was set aside on `day` count so many tokens instead, once; none once the day is over."""
        ...

    async def spent(self, project: str, resource: str) -> int:
        """Returns today's sum."""
        ...
