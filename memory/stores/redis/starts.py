"""Late starts in Redis: a key for each activity, which ends by itself."""

from __future__ import annotations

from redis.exceptions import ResponseError

from durable_memory.memory.stores.redis import reply_errors
from durable_memory.memory.stores.redis.arguments import digits, mark_of
from durable_memory.memory.stores.redis.keys import RedisKeys
from durable_memory.memory.stores.redis.link import Link
from durable_memory.memory.stores.redis.scripts import load_script


class RedisStarts:
    """The Starts port on Redis; each call is one script."""

    def __init__(self, link: Link, keys: RedisKeys) -> None:
        self._link = link
        self._keys = keys

    async def first(self, project: str, activity: str, proposed_ms: int, kept_ms: int) -> int:
        """See Starts."""
        mark, _ = mark_of(activity)
        keys = self._keys.start(project, mark.hex())
        try:
            return int(await self._link.run(load_script("start"), keys, [digits(proposed_ms), digits(kept_ms)]))
        except ResponseError as error:
            raise reply_errors.index_failure_of(error, keys) from error
        except ValueError:
            raise reply_errors.index_damaged(keys) from None
