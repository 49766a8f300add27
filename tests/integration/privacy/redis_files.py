"""Everything that a Redis holds or was ever sent, as text to search."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Kept:
    """A Redis and the folder of its data."""

    url: str
    redis: Any
    folder: Path

    async def values(self) -> str:
        """Returns every key with its value."""
        found: list[bytes] = []
        async for key in self.redis.scan_iter(count=1000):
            kind = await self.redis.type(key)
            found.append(key)
            if kind == b"string":
                found.append(await self.redis.get(key) or b"")
            elif kind == b"hash":
                for field, value in (await self.redis.hgetall(key)).items():
                    found += (field, value)
            else:
                assert kind == b"zset"
                found += await self.redis.zrange(key, 0, -1)
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
