"""The spending port: how many language-model tokens each resource has used today, for all processes together."""

from __future__ import annotations

from typing import Protocol


class Spending(Protocol):
    """Counts tokens by project, resource and day (UTC, by the store's clock). Each call is one atomic step.

    What a request may cost is reserved before it is made, and settled when its cost is known. Both calls name the
    request by an id that was never used before, and may be repeated until it is settled, as an answer may be lost.
    """

    async def reserve(self, project: str, resource: str, request: str, tokens: int, limit: int) -> int | None:
        """Counts the tokens that a request may cost, if the sum of today stays within `limit`.

        Returns the day that they are counted for, in days since 1970; None if they are not. Raises MemoryUnavailable.
        """
        ...

    async def settle(self, project: str, resource: str, request: str, tokens: int, day: int) -> None:
        """Counts what a request did cost in place of what it reserved on `day`; nothing, once that day is over.

        Raises MemoryUnavailable.
        """
        ...

    async def spent(self, project: str, resource: str) -> int:
        """Returns the sum of today. Raises MemoryUnavailable."""
        ...
