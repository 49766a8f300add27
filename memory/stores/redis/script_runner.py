"""Runs a script on the keys of a memory, and again with all of them where the memory has sections nobody declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cachetools import LRUCache
from redis.exceptions import ResponseError

from durable_memory.memory.identity import MemoryId
from durable_memory.memory.stores.redis import reply_errors
from durable_memory.memory.stores.redis.keys import RedisKeys
from durable_memory.memory.stores.redis.link import Link, Reply
from durable_memory.memory.stores.redis.scripts import load_script
from durable_memory.memory.types import Section, is_section_name

_MORE_SECTIONS: Final = b"sections "
_REMEMBERED_MEMORIES: Final = 4096
"""Memories with sections that their declaration does not name; a forgotten one costs one exchange more."""


class ScriptRunner:
    """What the parts of the driver stand on: a link, the keys, and which memories have more sections than declared."""

    def __init__(self, link: Link, keys: RedisKeys) -> None:
        self._link = link
        self._keys = keys
        self._undeclared: LRUCache[MemoryId, tuple[Section, ...]] = LRUCache(_REMEMBERED_MEMORIES)

    async def _run(
        self,
        name: str,
        memory: MemoryId,
        args: Sequence[bytes],
        sections: tuple[Section, ...] = (),
        backups: tuple[str, ...] | None = None,
    ) -> Reply:
        """Runs a script on the keys of a memory.

        sections: the user-defined ones that its limits declare. backups: ids of those whose keys it takes, too, and the
        list of all; None for a script that has to do with none.
        """
        try:
            while True:
                if self._undeclared:
                    sections = tuple(dict.fromkeys((*sections, *self._undeclared.get(memory, ()))))
                keys = (
                    self._keys.memory(memory, *sections)
                    if backups is None
                    else self._keys.with_backups(memory, backups, *sections)
                )
                reply = await self._link.run(load_script(name), keys, args)
                if reply.__class__ is not bytes or not reply.startswith(_MORE_SECTIONS):
                    return reply
                # The memory holds messages in sections that this caller does not know: a script names all its keys.
                # Each round names others, or what is stored has a name that no key can have.
                more = reply.decode("utf-8", "replace").split(" ")[1:]
                if not all(is_section_name(name) and name not in sections for name in more):
                    raise reply_errors.damaged(memory.resource, "what is stored of its sections has an unexpected form")
                self._undeclared[memory] = tuple(dict.fromkeys((*self._undeclared.get(memory, ()), *more)))
        except ResponseError as error:
            raise reply_errors.failure_of(memory.resource, error) from error

    async def _ask_soon(self, name: str, memory: MemoryId) -> None:
        """Runs a script that only asks about a memory, and waits for nothing to pass."""
        try:
            await self._link.run_soon(load_script(name), self._keys.memory(memory))
        except ResponseError as error:
            raise reply_errors.failure_of(memory.resource, error) from error
