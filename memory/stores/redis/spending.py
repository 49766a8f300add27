"""The spending of projects in Redis: one hash for each resource that has a budget, gone two days after its last use."""

from __future__ import annotations

from redis.exceptions import ResponseError

from durable_memory.memory.stores.redis import reply_errors
from durable_memory.memory.stores.redis.keys import RedisKeys
from durable_memory.memory.stores.redis.link import Link
from durable_memory.memory.stores.redis.scripts import load_script


class RedisSpending:
    """The Spending port on Redis; each call is one script."""

    def __init__(self, link: Link, keys: RedisKeys) -> None:
        self._link = link
        self._keys = keys

    async def reserve(self, project: str, resource: str, request: str, tokens: int, limit: int) -> int | None:
        """See Spending."""
        day, _ = await self._run(project, resource, request, tokens, limit, 0)
        return day or None

    async def settle(self, project: str, resource: str, request: str, tokens: int, day: int) -> None:
        """See Spending."""
        await self._run(project, resource, request, tokens, 0, day)

    async def spent(self, project: str, resource: str) -> int:
        """See Spending."""
        return (await self._run(project, resource, "", 0, 0, 0))[1]

    async def _run(self, project: str, resource: str, request: str, *numbers: int) -> tuple[int, int]:
        args = [request.encode(), *(str(number).encode() for number in numbers)]
        keys = self._keys.spent(project, resource)
        try:
            day, spent = await self._link.run(load_script("spend"), keys, args)
        except ResponseError as error:
            raise reply_errors.index_failure_of(error, keys) from error
        return day, spent
