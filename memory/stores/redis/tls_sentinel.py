"""Sentinels: all of them stay known, and behind TLS it is told why none could be asked."""

from __future__ import annotations

import asyncio
from typing import Any

from redis import exceptions
from redis.asyncio import Sentinel
from redis.asyncio.sentinel import MasterNotFoundError


class KnownSentinels(Sentinel):
    """Asks Sentinels for the primary, the last one that knew first.

    redis-py puts that one before the others by exchanging two of its list. Where several connections ask at the same
    time, one Sentinel comes to stand there twice and another one is lost, in the end all but one.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)  # type: ignore[no-untyped-call] # not typed there
        self._all = tuple(self.sentinels)

    async def discover_master(self, service_name: str) -> tuple[str, int]:
        """See Sentinel."""
        try:
            found: tuple[str, int] = await super().discover_master(service_name)
        finally:
            first = self.sentinels[0]
            self.sentinels = [first, *(one for one in self._all if one is not first)]
        return found


class TlsSentinel(KnownSentinels):
    """Asks Sentinels for the primary. redis-py says only of which kind their errors were, which hides a certificate."""

    async def discover_master(self, service_name: str) -> tuple[str, int]:
        """See Sentinel. Where none can be reached, raises what ended the first handshake that was refused."""
        try:
            return await super().discover_master(service_name)
        except MasterNotFoundError as error:
            asked = (sentinel.ping() for sentinel in self.sentinels)
            answers = await asyncio.gather(*asked, return_exceptions=True)
            told = [answer for answer in answers if isinstance(answer, exceptions.ConnectionError)]
            refused = [answer for answer in told if "[SSL: " in str(answer)]
            if refused and all(isinstance(answer, BaseException) for answer in answers):
                raise refused[0] from error
            raise
