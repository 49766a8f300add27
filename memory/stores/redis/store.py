"""The Redis driver of the store port: each method sends one script and reads its answer."""

from __future__ import annotations

import hashlib
import math
import re
import secrets
import struct
from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from redis.exceptions import ResponseError

from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.port import (
    ABSENT,
    Batch,
    BatchPage,
    Begun,
    Entry,
    Operation,
    ReadQuery,
    Stopped,
    StoredEntry,
    StoredView,
)
from durable_memory.memory.stores.redis import replies
from durable_memory.memory.stores.redis.keys import RedisKeys
from durable_memory.memory.stores.redis.link import Link, Reply
from durable_memory.memory.stores.redis.scripts import load_script
from durable_memory.memory.types import (
    SECTIONS,
    AppendResult,
    ClearResult,
    DeleteResult,
    FlushResult,
    MemoryStats,
    Section,
)

_LETTERS: Final[dict[Section, str]] = {"system": "s", "long_term": "l", "short_term": "c"}
_ALL_SECTIONS: Final = "".join(_LETTERS[section] for section in SECTIONS).encode()
_NO_LIMIT: Final = b"inf"


def _number(limit: int | None) -> float:
    return math.inf if limit is None else limit


@lru_cache(maxsize=1024)
def _packed(limits: Limits) -> bytes:
    """The limits as part_state.lua unpacks them; what is not limited is infinite."""
    return struct.pack(
        ">18d",
        _number(limits.max_tokens),
        _number(limits.max_messages),
        limits.summarize,
        _number(limits.room_tokens),
        _number(limits.room_messages),
        limits.summary_tokens,
        _number(limits.overflow_tokens),
        _number(limits.overflow_messages),
        _number(limits.due_tokens),
        _number(limits.due_messages),
        _number(limits.target_tokens),
        _number(limits.target_messages),
        limits.keep_first,
        limits.keep_last,
        limits.policy == "lru",
        limits.open_group_ms,
        _number(limits.ttl_ms),
        limits.lease_ms,
    )


_NO_LIMITS: Final = struct.pack(">18d", *([math.inf] * 18))
"""For scripts that look at no limit: clear, content, draft, fail, find."""


def _mark(operation_id: str) -> tuple[bytes, str]:
    """Returns what stands for an operation id in the record of operations, and its tag."""
    digest = hashlib.sha256(operation_id.encode("utf-8", "surrogatepass")).digest()
    return digest[:16], digest[:2].hex()


def _digest(text: str) -> bytes:
    return b64encode(hashlib.sha256(text.encode()).digest()[:12]) if text else b""


_PLAIN: Final = re.compile(r"[A-Za-z0-9_.:-]+").fullmatch


def _call_id(call_id: str) -> str:
    """Writes an id of a tool call so that it holds no space, the separator of lists in Redis."""
    return call_id if _PLAIN(call_id) else quote(call_id, safe="_.:-", errors="surrogatepass")


def _head(entry: Entry) -> bytes:
    head = f"{_LETTERS[entry.section]}{'p' if entry.pinned else '-'}{entry.tokens}"
    if entry.answers is not None:
        head += f" a={_call_id(entry.answers)}"
    elif entry.opens:
        head += f" o={' '.join(map(_call_id, entry.opens))}"
    return head.encode()


def _entries(resource: str, entries: Sequence[Entry]) -> list[bytes]:
    args = []
    for position, entry in enumerate(entries):
        if entry.section == "long_term":
            raise refusals.section_not_writable(resource, position)
        args.append(_head(entry))
        args.append(entry.payload.encode())
    return args


def _text(number: int) -> bytes:
    return b"%d" % number


class RedisStore:
    """The Store port on Redis 7.0 or newer. Made by `connect_redis`."""

    def __init__(self, link: Link, keys: RedisKeys) -> None:
        self._link = link
        self._keys = keys

    async def _run(self, name: str, memory: MemoryId, args: Sequence[bytes]) -> Reply:
        try:
            return await self._link.run(load_script(name), self._keys.memory(memory), args)
        except ResponseError as error:
            replies.script_failed(memory.resource, error)

    async def append(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits
    ) -> AppendResult:
        """See Store."""
        mark, tag = _mark(operation.id)
        args = [
            _packed(limits),
            mark,
            _digest(operation.digest),
            _text(operation.deadline_ms),
            tag.encode(),
            secrets.token_hex(8).encode(),
            *_entries(memory.resource, entries),
        ]
        return replies.appended(memory.resource, await self._run("append", memory, args), tag, len(entries))

    async def write(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits, if_version: str | None
    ) -> AppendResult:
        """See Store."""
        mark, tag = _mark(operation.id)
        args = [
            _packed(limits),
            mark,
            _digest(operation.digest),
            _text(operation.deadline_ms),
            tag.encode(),
            secrets.token_hex(8).encode(),
            (if_version or "").encode(),
            *_entries(memory.resource, entries),
        ]
        return replies.appended(memory.resource, await self._run("write", memory, args), tag, len(entries), if_version)

    async def read(self, memory: MemoryId, query: ReadQuery, limits: Limits) -> StoredView:
        """See Store."""
        sections = (
            _ALL_SECTIONS
            if query.sections is None
            else "".join(_LETTERS[section] for section in SECTIONS if section in query.sections).encode()
        )
        args = [
            _packed(limits),
            _NO_LIMIT if query.limit is None else _text(query.limit),
            _NO_LIMIT if query.max_tokens is None else _text(query.max_tokens),
            sections,
            b"" if query.ids is None else b"ids",
            *(one.encode() for one in query.ids or ()),
        ]
        return replies.view(memory.resource, await self._run("read", memory, args), query.max_tokens)

    async def find(self, memory: MemoryId, ids: Sequence[str]) -> tuple[StoredEntry, ...]:
        """See Store."""
        reply = await self._run("find", memory, [_NO_LIMITS, *(one.encode() for one in ids)])
        return replies.found(reply)

    async def touch(self, memory: MemoryId, ids: Sequence[str], limits: Limits) -> tuple[str, ...]:
        """See Store."""
        asked = tuple(dict.fromkeys(ids))
        reply = await self._run("touch", memory, [_packed(limits), *(one.encode() for one in asked)])
        return tuple(asked[int(position)] for position in reply.split())

    async def delete(self, memory: MemoryId, ids: Sequence[str], operation: Operation, limits: Limits) -> DeleteResult:
        """See Store."""
        asked = tuple(dict.fromkeys(ids))
        mark, tag = _mark(operation.id)
        args = [
            _packed(limits),
            mark,
            _digest(operation.digest),
            _text(operation.deadline_ms),
            tag.encode(),
            *(one.encode() for one in asked),
        ]
        return replies.deleted(memory.resource, await self._run("delete", memory, args), asked)

    async def clear(self, memory: MemoryId, operation: Operation, if_version: str | None = None) -> ClearResult:
        """See Store."""
        mark, _ = _mark(operation.id)
        version = (if_version or "").encode()
        args = [_NO_LIMITS, mark, _digest(operation.digest), _text(operation.deadline_ms), version]
        reply = await self._run("clear", memory, args)
        words = reply.decode().split(" ")
        if words[0] == "conflict":
            raise refusals.version_conflict(memory.resource, words[1], if_version or ABSENT)
        if words[0] != "ok":
            raise replies.refuse(memory.resource, words)
        return ClearResult(int(words[1]))

    async def begin(
        self, memory: MemoryId, owner: str, *, batch_id: str, force: bool, attempt_ends_ms: int, limits: Limits
    ) -> Begun:
        """See Store."""
        mark, _ = _mark(owner)
        args = [
            _packed(limits),
            mark,
            owner.encode(),
            batch_id.encode(),
            b"1" if force else b"0",
            _text(attempt_ends_ms),
        ]
        return replies.begun(memory.resource, await self._run("begin", memory, args), owner)

    async def content(self, memory: MemoryId, batch: Batch, cursor: int) -> BatchPage | Stopped:
        """See Store."""
        return replies.batch_page(await self._run("content", memory, [_NO_LIMITS, *_batch_args(batch), _text(cursor)]))

    async def draft(self, memory: MemoryId, batch: Batch, summary: Entry) -> Stopped | None:
        """See Store."""
        args = [_NO_LIMITS, *_batch_args(batch), summary.payload.encode(), _text(summary.tokens)]
        return replies.stopped(memory.resource, await self._run("draft", memory, args))

    async def renew(self, memory: MemoryId, batch: Batch, limits: Limits) -> bool:
        """See Store."""
        reply = await self._run("renew", memory, [_packed(limits), *_batch_args(batch)])
        return bool(reply == b"ok")

    async def commit(self, memory: MemoryId, batch: Batch, limits: Limits, deadline_ms: int) -> FlushResult:
        """See Store."""
        mark, _ = _mark(batch.owner)
        _, tag = _mark(batch.id)
        args = [_packed(limits), *_batch_args(batch), mark, _text(deadline_ms), tag.encode()]
        return replies.committed(memory.resource, await self._run("commit", memory, args))

    async def fail(self, memory: MemoryId, batch: Batch, error_type: str, retry_after_ms: int) -> Stopped | None:
        """See Store."""
        args = [_NO_LIMITS, *_batch_args(batch), error_type.encode(), _text(retry_after_ms)]
        return replies.stopped(memory.resource, await self._run("fail", memory, args))

    async def drop(self, memory: MemoryId, operation: Operation, limits: Limits, *, force: bool) -> FlushResult:
        """See Store."""
        mark, tag = _mark(operation.id)
        args = [
            _packed(limits),
            mark,
            _digest(operation.digest),
            _text(operation.deadline_ms),
            tag.encode(),
            b"1" if force else b"0",
        ]
        return replies.dropped(memory.resource, await self._run("drop", memory, args))

    async def stats(self, memory: MemoryId, limits: Limits) -> MemoryStats:
        """See Store."""
        return replies.stats(await self._run("stats", memory, [_packed(limits)]), limits)

    async def ping(self) -> None:
        """See Store."""
        await self._link.ping()

    async def close(self) -> None:
        """See Store."""
        await self._link.close()


def _batch_args(batch: Batch) -> tuple[bytes, bytes, bytes, bytes]:
    return batch.incarnation.encode(), _text(batch.fence), batch.owner.encode(), batch.id.encode()
