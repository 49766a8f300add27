"""The fleet in Redis: one hash for each queue, of the workers that said lately what they declare."""

from __future__ import annotations

from redis.exceptions import ResponseError

from durable_memory.memory.stores.redis import reply_errors
from durable_memory.memory.stores.redis.arguments import digits, mark_of
from durable_memory.memory.stores.redis.keys import RedisKeys
from durable_memory.memory.stores.redis.link import Link
from durable_memory.memory.stores.redis.scripts import load_script


class RedisFleet:
    """The Fleet port on Redis; each call is one script."""

    def __init__(self, link: Link, keys: RedisKeys) -> None:
        self._link = link
        self._keys = keys

    async def tell(self, project: str, queue: str, worker: str, declarations: str, kept_ms: int) -> None:
        """See Fleet."""
        await self._run("fleet_tell", project, queue, worker.encode(), declarations.encode(), digits(kept_ms))

    async def leave(self, project: str, queue: str, worker: str) -> None:
        """See Fleet."""
        await self._run("fleet_leave", project, queue, worker.encode())

    async def differs(self, project: str, queue: str, declarations: str) -> bool:
        """See Fleet."""
        return await self._run("fleet_differs", project, queue, declarations.encode()) > 0

    async def _run(self, script: str, project: str, queue: str, *args: bytes) -> int:
        mark, _ = mark_of(queue)
        keys = self._keys.fleet(project, mark.hex())
        try:
            return int(await self._link.run(load_script(script), keys, list(args)))
        except ResponseError as error:
            raise reply_errors.index_failure_of(error, keys) from error
