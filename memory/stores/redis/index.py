"""The project index in Redis: which memories exist, and who owns them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import unquote

from redis.exceptions import ResponseError

from durable_memory.memory.identity import MemoryId, Owner, WorkflowId
from durable_memory.memory.keys.prefix import prefix_ranges
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.index_port import Binding, MemoryPage, OwnerPage
from durable_memory.memory.stores.redis import reply_errors
from durable_memory.memory.stores.redis.keys import KeySet, RedisKeys, encode_part
from durable_memory.memory.stores.redis.link import Link, Reply
from durable_memory.memory.stores.redis.scripts import load_script


class RedisProjectIndex:
    """The ProjectIndex port on Redis; each call is one script or command."""

    def __init__(self, link: Link, keys: RedisKeys) -> None:
        self._link = link
        self._keys = keys

    async def _run(self, name: str, keys: KeySet, args: Sequence[bytes]) -> Reply:
        try:
            return await self._link.run(load_script(name), keys, args)
        except ResponseError as error:
            raise reply_errors.index_failure_of(error, keys) from error

    async def _ask(self, command: str, keys: KeySet, *args: bytes) -> Reply:
        [key] = keys.names
        try:
            return await self._link.command(command, key, *args)
        except ResponseError as error:
            raise reply_errors.index_failure_of(error, keys) from error

    @property
    def generation(self) -> int:
        """See ProjectIndex."""
        return self._link.generation

    async def register(self, memory: MemoryId, owner: Owner | None) -> None:
        """See ProjectIndex."""
        args = (
            memory.key.encode(),
            _member(memory),
            memory.resource.encode(),
            b"" if owner is None else _owner(owner.workflow),
            b"" if owner is None else encode_part(owner.run_id).encode(),
        )
        await self._run("index_register", self._keys.index(memory.project, memory.resource), args)

    async def ending(self, project: str, workflow: WorkflowId, runs: Collection[str]) -> Mapping[MemoryId, bool]:
        """See ProjectIndex."""
        args = [_owner(workflow), *(encode_part(run).encode() for run in runs)]
        keys = self._keys.bindings(project)
        reply = await self._run("index_ending", keys, args)
        with _reading(keys):
            return {_memory(project, member): last == 1 for member, last in zip(reply[::2], reply[1::2], strict=True)}

    async def release(self, project: str, workflow: WorkflowId, memories: Collection[MemoryId]) -> None:
        """See ProjectIndex."""
        args = [_owner(workflow), *map(_member, memories)]
        await self._run("index_release", self._keys.bindings(project), args)

    async def release_gone(self, project: str, workflow: WorkflowId, open_run: str) -> None:
        """See ProjectIndex."""
        args = [_owner(workflow), encode_part(open_run).encode()]
        await self._run("index_release_gone", self._keys.bindings_and_registered(project), args)

    async def owners(self, project: str, cursor: str | None, count: int) -> OwnerPage:
        """See ProjectIndex."""
        after = b"" if cursor is None else _read_key_cursor(cursor)
        args = [after, str(count).encode()]
        keys = self._keys.bindings(project)
        more, now, last, found = await self._run("index_owners", keys, args)
        following = base64.urlsafe_b64encode(last).decode() if more == b"more" else None
        with _reading(keys):
            return OwnerPage(_bindings(project, found), following, now)

    async def bindings(self, project: str, workflow: WorkflowId) -> tuple[Binding, ...]:
        """See ProjectIndex."""
        words = b"o:" + _owner(workflow)
        keys = self._keys.bindings(project)
        found = await self._ask("ZRANGE", keys, b"[" + words + b" ", b"(" + words + b"!", b"BYLEX")
        with _reading(keys):
            return _bindings(project, found)

    async def memories(
        self, project: str, resource: str, cursor: str | None, count: int, prefix: str = ""
    ) -> MemoryPage:
        """See ProjectIndex."""
        bounds = _bounds(prefix, None if cursor is None else _read_key_cursor(cursor))
        args = [str(count).encode(), *bounds]
        keys = self._keys.index(project, resource)
        more, now, *names = await self._run("index_memories", keys, args)
        following = base64.urlsafe_b64encode(names[-1]).decode() if more == b"more" else None
        with _reading(keys):
            return MemoryPage(tuple(MemoryId(project, resource, name.decode()) for name in names), following, now)

    async def resources(self, project: str) -> tuple[str, ...]:
        """See ProjectIndex."""
        keys = self._keys.resources(project)
        found = await self._ask("SMEMBERS", keys)
        with _reading(keys):
            return tuple(sorted(resource.decode() for resource in found))

    async def registered(self, project: str, cursor: str | None, count: int) -> MemoryPage:
        """See ProjectIndex."""
        score, member = (b"", b"") if cursor is None else _read_cursor(cursor)
        args = [score, member, str(count).encode()]
        keys = self._keys.registered(project)
        more, score, now, *members = await self._run("index_registered", keys, args)
        following = _cursor(score, members[-1]) if more == b"more" and members else None
        with _reading(keys):
            return MemoryPage(tuple(_memory(project, member) for member in members), following, now)

    async def forget(self, memory: MemoryId, as_of_ms: int) -> bool:
        """See ProjectIndex."""
        removed = await self._run(
            "index_forget",
            self._keys.index(memory.project, memory.resource),
            [memory.key.encode(), _member(memory), memory.resource.encode(), str(as_of_ms).encode()],
        )
        return bool(removed)


def _member(memory: MemoryId) -> bytes:
    return f"{encode_part(memory.resource)}/{encode_part(memory.key)}".encode()


def _memory(project: str, member: bytes) -> MemoryId:
    resource, _, key = member.decode().partition("/")
    return MemoryId(project, unquote(resource), unquote(key))


@contextmanager
def _reading(keys: KeySet) -> Iterator[None]:
    """Says which keys are damaged, where what stands in them has no form that is known."""
    try:
        yield
    except ValueError:
        raise reply_errors.index_damaged(keys) from None


def _owner(workflow: WorkflowId) -> bytes:
    return f"{encode_part(workflow.namespace)}/{encode_part(workflow.id)}".encode()


def _bindings(project: str, entries: Sequence[bytes]) -> tuple[Binding, ...]:
    return tuple(_binding(project, entry) for entry in entries)


def _binding(project: str, entry: bytes) -> Binding:
    owner, member, run_id, bound_ms = entry.removeprefix(b"o:").split(b" ")
    namespace, _, workflow_id = owner.decode().partition("/")
    return Binding(
        _memory(project, member),
        Owner(unquote(namespace), unquote(workflow_id), unquote(run_id.decode())),
        int(bound_ms),
    )


def _bounds(prefix: str, after: bytes | None) -> list[bytes]:
    """The ranges of keys with a prefix that lie behind `after`, each as two bounds of ZRANGE BYLEX."""
    bounds: list[bytes] = []
    for low, high in prefix_ranges(prefix):
        if after is None or low > after:
            bounds += [b"[" + low, b"+" if high is None else b"(" + high]
        elif high is None or after < high:
            bounds += [b"(" + after, b"+" if high is None else b"(" + high]
    return bounds


def _read_key_cursor(cursor: str) -> bytes:
    try:
        key = base64.b64decode(cursor.encode(), altchars=b"-_", validate=True)
        key.decode()
    except ValueError:
        raise refusals.cursor_unknown() from None
    return key


def _cursor(score: bytes, key: bytes) -> str:
    return base64.urlsafe_b64encode(score + b" " + key).decode()


def _read_cursor(cursor: str) -> tuple[bytes, bytes]:
    try:
        score, space, key = base64.urlsafe_b64decode(cursor.encode()).partition(b" ")
    except (binascii.Error, ValueError):
        space, score, key = b"", b"", b""
    if not space or not score.isdigit():
        raise refusals.cursor_unknown()
    return score, key
