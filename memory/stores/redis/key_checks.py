"""The key checks in Redis: one hash for each project, by the ids of keys."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from redis.exceptions import ResponseError

from durable_memory.memory.stores.redis import reply_errors
from durable_memory.memory.stores.redis.keys import RedisKeys
from durable_memory.memory.stores.redis.link import Link
from durable_memory.memory.stores.redis.scripts import load_script


class RedisKeyChecks:
    """The KeyChecks port on Redis; each call is one script."""

    def __init__(self, link: Link, keys: RedisKeys) -> None:
        self._link = link
        self._keys = keys

    async def noted(self, project: str) -> Mapping[str, str]:
        """See KeyChecks."""
        return await self.note(project, {})

    async def note(self, project: str, checks: Mapping[str, str]) -> Mapping[str, str]:
        """See KeyChecks."""
        keys = self._keys.key_checks(project)
        args = [text.encode() for text in chain.from_iterable(checks.items())]
        try:
            found = await self._link.run(load_script("key_checks_note"), keys, args)
        except ResponseError as error:
            raise reply_errors.index_failure_of(error, keys) from error
        texts = [text.decode() for text in found]
        return dict(zip(texts[::2], texts[1::2], strict=True))
