"""A Redis that has reached its maxmemory: each call is done or changes nothing, and passes once there is room."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from durable_memory.dev import start_valkey
from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.testing.contracts.builders import call, dropping, result, summarising, texts_of, user
from durable_memory.testing.contracts.driven import Driven
from tests.integration.redis.topologies import ask


@dataclass
class Server:
    """A Redis of these tests' own. backend: on it."""

    raw: Redis
    backend: Backend

    @asynccontextmanager
    async def full(self) -> AsyncIterator[None]:
        """Leaves no room meanwhile."""
        await self.raw.config_set("maxmemory", 1)
        try:
            yield
        finally:
            await self.raw.config_set("maxmemory", 0)

    async def kept(self) -> dict[bytes, bytes | None]:
        """Returns all that it holds, byte by byte."""
        return {key: await self.raw.dump(key) async for key in self.raw.scan_iter(count=1_000)}


@pytest.fixture(scope="module")
async def server(server_folder: Path) -> AsyncIterator[Server]:
    valkey = await start_valkey(server_folder / f"full-{uuid.uuid4().hex}")
    backend = await connect_redis(valkey.url)
    async with Redis.from_url(valkey.url) as raw:
        yield Server(raw, backend)
    await backend.store.close()
    valkey.server.kill()


@dataclass
class Scene:
    """A memory with a backup and seven messages, one of them pinned, so that a flush is due."""

    driven: Driven
    ids: tuple[str, ...]
    backup: str | None


async def scene(server: Server, limits: Limits) -> Scene:
    await server.raw.flushall()
    driven = Driven(server.backend.store, limits)
    await driven.append(user("old"))
    backup = (await driven.clear(backup=True)).backup_id
    ids = (await driven.append(*(user(f"new {number}") for number in range(7)))).ids
    await driven.pin(ids[0])
    return Scene(driven, ids, backup)


Operation = Callable[[Scene], Awaitable[Any]]

REFUSED: dict[str, Operation] = {
    "append": lambda made: made.driven.append(user("one more"), op="x"),
    "append-a-group": lambda made: made.driven.append(call("c", "y"), result("r", "y"), op="x"),
    "append-that-evicts": lambda made: made.driven.append(*(user(f"more {number}") for number in range(5)), op="x"),
    "pin": lambda made: made.driven.pin(made.ids[4], op="x"),
    "unpin": lambda made: made.driven.unpin(made.ids[0], op="x"),
    "clear-with-backup": lambda made: made.driven.clear(op="x", backup=True),
}

DONE: dict[str, Operation] = {
    "read": lambda made: made.driven.read(),
    "stats": lambda made: made.driven.stats(),
    "delete": lambda made: made.driven.delete(made.ids[3]),
    "clear": lambda made: made.driven.clear(),
    "erase": lambda made: made.driven.erase(),
}


@pytest.mark.parametrize("limits", [summarising(policy="lru"), dropping(ttl_ms=3_600_000)], ids=["summarise", "drop"])
@pytest.mark.parametrize("operation", REFUSED.values(), ids=REFUSED)
async def test_what_needs_room_is_refused_whole_and_passes_later(
    server: Server, limits: Limits, operation: Operation
) -> None:
    made = await scene(server, limits)
    before = await server.kept()
    async with server.full():
        with pytest.raises(MemoryUnavailable, match="out of memory"):
            await operation(made)
    assert await server.kept() == before
    answer = await operation(made)
    assert not getattr(answer, "already_applied", False)
    await made.driven.check_counters()


@pytest.mark.parametrize("operation", DONE.values(), ids=DONE)
async def test_what_makes_room_or_only_looks_is_done(server: Server, operation: Operation) -> None:
    made = await scene(server, summarising(policy="lru"))
    async with server.full():
        await operation(made)
    await made.driven.check_counters()


async def test_no_memory_comes_into_being(server: Server) -> None:
    await server.raw.flushall()
    driven = Driven(server.backend.store, summarising())
    async with server.full():
        with pytest.raises(MemoryUnavailable, match="out of memory"):
            await driven.append(user("first"), op="birth")
    assert await server.kept() == {}
    assert (await driven.append(user("first"), op="birth")).created


async def test_a_flush_is_refused_before_a_model_is_asked_for_its_summary(server: Server) -> None:
    made = await scene(server, summarising())
    before = await server.kept()
    async with server.full():
        with pytest.raises(MemoryUnavailable, match="out of memory"):
            await made.driven.begin()
    assert await server.kept() == before
    assert (await made.driven.flush()).outcome == "committed"


async def test_a_summary_that_finds_no_room_is_drafted_later(server: Server) -> None:
    made = await scene(server, summarising())
    batch = await made.driven.batch()
    before = await server.kept()
    async with server.full():
        with pytest.raises(MemoryUnavailable, match="out of memory"):
            await made.driven.summarise(batch)
    assert await server.kept() == before
    await made.driven.summarise(batch)
    assert (await made.driven.commit(batch)).outcome == "committed"


async def test_a_commit_that_finds_no_room_takes_its_draft_later(server: Server) -> None:
    made = await scene(server, summarising())
    batch = await made.driven.batch()
    await made.driven.summarise(batch)
    before = await server.kept()
    async with server.full():
        with pytest.raises(MemoryUnavailable, match="out of memory"):
            await made.driven.commit(batch)
    assert await server.kept() == before
    assert (await made.driven.commit(batch)).outcome == "committed"
    await made.driven.check_counters()


@pytest.mark.parametrize(("policy", "ids", "writes"), [("fifo", 1, False), ("lru", 0, False), ("lru", 1, True)])
async def test_a_read_by_ids_writes_only_what_its_policy_keeps(
    server: Server, policy: str, ids: int, *, writes: bool
) -> None:
    await server.raw.flushall()
    driven = Driven(server.backend.store, dropping(policy=policy))
    first, second = (await driven.append(user("one"), user("two"))).ids
    await driven.delete(second)
    await server.raw.config_resetstat()
    await driven.read(ids=(first,) if ids else (second,))
    stats = await server.raw.info("commandstats")
    assert "cmdstat_hmget" in stats
    assert ("cmdstat_hset" in stats) == writes


@pytest.mark.parametrize(
    ("refuse", "serve"),
    [
        ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"),
        ("CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0"),
        ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),
    ],
)
async def test_a_read_is_answered_where_what_it_would_note_is_refused(server: Server, refuse: str, serve: str) -> None:
    await server.raw.flushall()
    driven = Driven(server.backend.store, summarising(policy="lru", ttl_ms=60_000))
    first, _ = (await driven.append(user("one"), user("two"))).ids
    prolonging = replace(driven, limits=summarising(policy="lru", ttl_ms=120_000, refresh_on_read=True))
    await ask(server.raw, *refuse.split())
    try:
        assert await prolonging.texts() == ["one", "two"]
        assert texts_of(await prolonging.read(ids=(first,))) == ["one"]
        assert texts_of(await driven.read(ids=(first,))) == ["one"]
    finally:
        await ask(server.raw, *serve.split())
