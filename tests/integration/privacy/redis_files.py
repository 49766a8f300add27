"""Everything that a Redis holds or was ever sent, as text to search."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Kept:
    """A Redis and the folder of its data."""

    url: str
    redis: Any
    folder: Path

    @property
    def _read(self) -> dict[bytes, Callable[[bytes], Awaitable[Iterable[bytes]]]]:
        """How each type of key is read."""
        redis = self.redis

        async def fields(key: bytes) -> list[bytes]:
            return [part for pair in (await redis.hgetall(key)).items() for part in pair]

        return {
            b"string": redis.mget,
            b"hash": fields,
            b"zset": lambda key: redis.zrange(key, 0, -1),
            b"set": redis.smembers,
        }

    async def values(self) -> str:
        """Returns every key with its value."""
        found: list[bytes] = []
        async for key in self.redis.scan_iter(count=1000):
            found.append(key)
            found += await self._read[await self.redis.type(key)](key)
        return _text(found)

    async def all(self) -> str:
        """Returns every key with its value, and every command that the log on disk holds."""
        files = [file for file in self.folder.rglob("*.aof") if file.is_file()]
        assert files
        return await self.values() + _text([file.read_bytes() for file in files])


def _text(parts: list[bytes]) -> str:
    return b"\n".join(parts).decode("utf-8", "backslashreplace")


def spellings(secret: str) -> set[str]:
    """Returns how a text may stand in JSON: as it is, escaped once, or twice, as arguments of calls are."""
    forms = {secret}
    for ascii_only in (False, True):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        forms |= {once, json.dumps(once, ensure_ascii=False)[1:-1]}
    return forms
