"""Sentinels behind TLS: why none of them could be asked."""

from __future__ import annotations

import asyncio

from redis import exceptions
from redis.asyncio import Sentinel
from redis.asyncio.sentinel import MasterNotFoundError


class TlsSentinel(Sentinel):
    """Asks Sentinels for the primary. redis-py says only of which kind their errors were, which hides a certificate."""

    async def discover_master(self, service_name: str) -> tuple[str, int]:
        """See Sentinel. Where none can be reached, raises what ended the first handshake that was refused."""
        try:
            found: tuple[str, int] = await super().discover_master(service_name)
        except MasterNotFoundError as error:
            asked = (sentinel.ping() for sentinel in self.sentinels)
            answers = await asyncio.gather(*asked, return_exceptions=True)
            told = [answer for answer in answers if isinstance(answer, exceptions.ConnectionError)]
            refused = [answer for answer in told if "[SSL: " in str(answer)]
            if refused and all(isinstance(answer, BaseException) for answer in answers):
                raise refused[0] from error
            raise
        return found
