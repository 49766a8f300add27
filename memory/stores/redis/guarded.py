"""A link whose calls go through the circuit breaker of one resource: scripts of its memories and of the index alike."""

from __future__ import annotations

from collections.abc import Sequence

from durable_memory.memory.stores.breaker import Breaker
from durable_memory.memory.stores.redis.keys import KeySet
from durable_memory.memory.stores.redis.link import Link, Reply
from durable_memory.memory.stores.redis.scripts import Script


class GuardedLink:
    """A Link behind a breaker. It shares the connections of the link that it guards, and does not close them."""

    def __init__(self, link: Link, breaker: Breaker) -> None:
        self._link = link
        self._breaker = breaker
        self.check_loop = link.check_loop

    @property
    def generation(self) -> int:
        """See Link."""
        return self._link.generation

    async def run(self, script: Script, keys: KeySet, args: Sequence[bytes]) -> Reply:
        """See Link."""
        self.check_loop()  # the breaker belongs to the loop as well
        return await self._breaker.call(lambda: self._link.run(script, keys, args))

    async def run_soon(self, script: Script, keys: KeySet) -> Reply:
        """See Link."""
        self.check_loop()
        return await self._breaker.call(lambda: self._link.run_soon(script, keys))

    async def command(self, *args: bytes | str) -> Reply:
        """See Link."""
        self.check_loop()
        return await self._breaker.call(lambda: self._link.command(*args))

    async def ping(self) -> None:
        """See Link."""
        self.check_loop()
        await self._breaker.call(self._link.ping)

    async def info(self) -> list[dict[str, str]]:
        """See Link."""
        self.check_loop()
        return await self._breaker.call(self._link.info)

    async def settings(self, *names: str) -> list[dict[str, str]]:
        """See Link."""
        self.check_loop()
        return await self._breaker.call(lambda: self._link.settings(*names))

    async def close(self) -> None:
        """Leaves the connections open: they are not its own."""
