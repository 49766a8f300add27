"""The project index in Redis: which memories exist, who owns them, which may need a flush."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from urllib.parse import unquote

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.stores.port import MemoryPage
from durable_memory.memory.stores.redis.keys import RedisKeys, encode_part
from durable_memory.memory.stores.redis.link import Link
from durable_memory.memory.stores.redis.scripts import load_script


class RedisProjectIndex:
    """The ProjectIndex port on Redis; each call is one script."""

    def __init__(self, link: Link, keys: RedisKeys) -> None:
        self._link = link
        self._keys = keys

    async def register(self, memory: MemoryId, owner: Owner | None) -> None:
        """See ProjectIndex."""
        args = (
            memory.key.encode(),
            _member(memory),
            b"" if owner is None else _owner(owner.namespace, owner.workflow_id),
            b"" if owner is None else owner.run_id.encode(),
        )
        await self._link.run(load_script("index_register"), self._keys.index(memory.project, memory.resource), args)

    async def ending(self, project: str, namespace: str, workflow_id: str) -> Mapping[MemoryId, bool]:
        """See ProjectIndex."""
        reply = await self._link.run(
            load_script("index_ending"), self._keys.owners(project), [_owner(namespace, workflow_id)]
        )
        return {_memory(project, member): last == 1 for member, last in zip(reply[::2], reply[1::2], strict=True)}

    async def release(self, project: str, namespace: str, workflow_id: str) -> None:
        """See ProjectIndex."""
        await self._link.run(load_script("index_release"), self._keys.owners(project), [_owner(namespace, workflow_id)])

    async def memories(self, project: str, resource: str, cursor: str | None, count: int) -> MemoryPage:
        """See ProjectIndex."""
        score, key = (b"", b"") if cursor is None else _read_cursor(cursor)
        more, score, *members = await self._link.run(
            load_script("index_page"), self._keys.index(project, resource), [score, key, str(count).encode()]
        )
        found = tuple(MemoryId(project, resource, member.decode()) for member in members)
        return MemoryPage(found, _cursor(score, members[-1]) if more == b"more" and members else None)

    async def due_candidates(self, project: str, count: int) -> tuple[MemoryId, ...]:
        """See ProjectIndex."""
        if count < 1:
            return ()
        members = await self._link.command("ZRANGE", self._keys.due(project), "0", str(count - 1))
        return tuple(_memory(project, member) for member in members)

    async def forget(self, memory: MemoryId) -> None:
        """See ProjectIndex."""
        await self._link.run(
            load_script("index_forget"),
            self._keys.index(memory.project, memory.resource),
            [memory.key.encode(), _member(memory)],
        )


def _member(memory: MemoryId) -> bytes:
    return f"{encode_part(memory.resource)}/{encode_part(memory.key)}".encode()


def _memory(project: str, member: bytes) -> MemoryId:
    resource, _, key = member.decode().partition("/")
    return MemoryId(project, unquote(resource), unquote(key))


def _owner(namespace: str, workflow_id: str) -> bytes:
    return f"{encode_part(namespace)}/{encode_part(workflow_id)}".encode()


def _cursor(score: bytes, key: bytes) -> str:
    return base64.urlsafe_b64encode(score + b" " + key).decode()


def _read_cursor(cursor: str) -> tuple[bytes, bytes]:
    try:
        score, space, key = base64.urlsafe_b64decode(cursor.encode()).partition(b" ")
    except (binascii.Error, ValueError):
        space, score, key = b"", b"", b""
    if not space or not score.isdigit():
        raise MemoryInvalid("cursor: is not one that this listing gave")
    return score, key
