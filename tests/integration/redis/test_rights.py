"""A Redis that refuses a command inside a script: nothing is written, and what is repeated later is applied."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from durable_memory import MemoryClient, Registry
from durable_memory.dev.supervisor import ServerSpec, start_server
from durable_memory.dev.valkey import find_program
from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.memory.stores.redis.keys import RedisKeys
from durable_memory.testing.contracts.builders import call, dropping, result, summarising, texts_of, user
from durable_memory.testing.contracts.driven import Driven
from tests.integration.redis.topologies import READY

COMMANDS = (
    *("hset", "hsetnx", "hdel", "zadd", "zrem", "unlink", "del", "set", "copy", "pexpireat", "persist"),
    *("pexpiretime", "exists", "hget", "hmget", "zrange", "zrangebyscore", "zcount"),
)
"""Each of them follows the first write of some script."""

RESOURCE = {"resource": "memory", "id": "desk", "max_tokens": 1000}
LIMITS = {
    "summarising": summarising(policy="lru", ttl_ms=3_600_000),
    "dropping": dropping(policy="priority", ttl_ms=3_600_000),
}


@dataclass
class Poor:
    """A user of Redis who lacks a command until it is granted."""

    backend: Backend
    grant: Callable[[], Awaitable[Any]]


@pytest.fixture
async def poor(redis_url: str, raw: Redis, prefix: str, command: str) -> AsyncIterator[Poor]:
    name = f"poor-{uuid.uuid4().hex}"
    await raw.acl_setuser(name, enabled=True, passwords=["+sesame"], keys=["*"], commands=["+@all", f"-{command}"])
    backend = await connect_redis(redis_url.replace("://", f"://{name}:sesame@"), prefix=prefix)
    yield Poor(backend, lambda: raw.acl_setuser(name, enabled=True, keys=["*"], commands=[f"+{command}"], reset=False))
    await backend.store.close()
    await raw.acl_deluser(name)


async def kept(raw: Redis, prefix: str, driven: Driven) -> dict[bytes, bytes | None]:
    """Returns all that Redis holds of a memory, byte by byte, backups and the record of operations too."""
    root = RedisKeys(prefix).memory(driven.memory).names[0].removesuffix(b":meta")
    return {key: await raw.dump(key) async for key in raw.scan_iter(match=root + b":*", count=1_000)}


@dataclass
class Scene:
    """A memory with messages that fill it, one of them pinned, and a backup."""

    driven: Driven
    ids: tuple[str, ...]
    backup: str | None


async def scene(backend: Backend, limits: Limits) -> Scene:
    """Makes one, by a user who may do everything."""
    driven = Driven(backend.store, limits)
    await driven.append(*(user(f"old {number}") for number in range(4)), call("question", "x"), result("answer", "x"))
    backup = (await driven.clear(backup=True)).backup_id
    ids = (await driven.append(*(user(f"new {number}") for number in range(7)))).ids
    await driven.pin(ids[0])
    return Scene(driven, ids, backup)


OPERATIONS: dict[str, Callable[[Driven, Scene, str], Awaitable[Any]]] = {
    "append": lambda driven, _, op: driven.append(user("one more"), op=op),
    "append-a-group": lambda driven, _, op: driven.append(call("c", "y"), result("r", "y"), user("z"), op=op),
    "write": lambda driven, _, op: driven.write(user("anew"), op=op),
    "delete": lambda driven, made, op: driven.delete(made.ids[3], op=op),
    "pin": lambda driven, made, op: driven.pin(made.ids[4], op=op),
    "unpin": lambda driven, made, op: driven.unpin(made.ids[0], op=op),
    "clear": lambda driven, _, op: driven.clear(op=op),
    "clear-with-backup": lambda driven, _, op: driven.clear(op=op, backup=True),
    "restore": lambda driven, made, op: driven.restore(made.backup, op=op),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
async def test_an_operation_is_done_or_changes_nothing_where_its_user_lacks_a_command(
    backend: Backend, poor: Poor, raw: Redis, prefix: str, command: str, limits: Limits
) -> None:
    scenes = await asyncio.gather(*(scene(backend, limits) for _ in OPERATIONS))
    made = dict(zip(OPERATIONS, scenes, strict=True))
    before = {name: await kept(raw, prefix, each.driven) for name, each in made.items()}
    refused = {}
    for name, operation in OPERATIONS.items():
        driven = replace(made[name].driven, store=poor.backend.store)
        try:
            await operation(driven, made[name], name)
        except MemoryUnavailable as error:
            refused[name] = error.message
    assert refused, "none of the operations needs this command"
    assert {name for name in refused if f"refuses this user the command '{command}'" not in refused[name]} == set()
    assert {name for name in refused if await kept(raw, prefix, made[name].driven) != before[name]} == set()
    await poor.grant()
    answers = {}
    for name in refused:
        driven = replace(made[name].driven, store=poor.backend.store)
        answers[name] = await OPERATIONS[name](driven, made[name], name)
        await driven.check_counters()
    # Pins answer with ids alone.
    marked = {name: answer for name, answer in answers.items() if name not in ("pin", "unpin")}
    assert [name for name, answer in marked.items() if answer.already_applied] == []
    for each in (made[name] for name in refused if name.startswith("append")):
        assert {"one more", "z"} & {*await each.driven.texts()}


@pytest.mark.parametrize("command", COMMANDS)
async def test_a_memory_comes_whole_into_being_or_not_at_all(poor: Poor, raw: Redis, prefix: str, command: str) -> None:
    driven = Driven(poor.backend.store, LIMITS["summarising"])
    with pytest.raises(MemoryUnavailable, match=f"refuses this user the command '{command}'"):
        await driven.append(user("first"), op="birth")
    assert await kept(raw, prefix, driven) == {}
    await poor.grant()
    born = await driven.append(user("first"), op="birth")
    assert (born.created, born.already_applied) == (True, False)


@pytest.mark.parametrize("command", COMMANDS)
async def test_a_commit_of_a_user_who_lacks_a_command_leaves_the_batch_for_another_attempt(
    backend: Backend, poor: Poor, raw: Redis, prefix: str, command: str
) -> None:
    driven = (await scene(backend, LIMITS["summarising"])).driven
    batch = await driven.batch(force=True)
    await driven.summarise(batch)
    before = await kept(raw, prefix, driven)
    with pytest.raises(MemoryUnavailable, match=f"refuses this user the command '{command}'"):
        await replace(driven, store=poor.backend.store).commit(batch)
    assert await kept(raw, prefix, driven) == before
    await poor.grant()
    assert (await replace(driven, store=poor.backend.store).commit(batch)).outcome == "committed"


async def test_health_names_the_right_that_writes_lack(redis_url: str, raw: Redis, prefix: str) -> None:
    name, registry = f"reader-{uuid.uuid4().hex}", Registry.from_resources([RESOURCE])
    rights = ["+@read", "+@connection", "+@scripting", "+time", "+info"]
    await raw.acl_setuser(name, enabled=True, passwords=["+sesame"], keys=[f"{prefix}*"], commands=rights)
    address = redis_url.replace("://", f"://{name}:sesame@")
    async with await MemoryClient.connect(address, memories=registry, prefix=prefix) as client:
        memory = client.memory("desk", "k")
        health = await memory.health()
        with pytest.raises(MemoryUnavailable, match="refuses this user the command"):
            await memory.append("refused")
        assert (health.healthy, len(health.problems)) == (False, 1)
        assert "refuses this user the command 'hset'" in health.problems[0]
        await raw.acl_setuser(name, enabled=True, commands=["+@write"], reset=False)
        assert (await memory.health()).healthy
    await raw.acl_deluser(name)


@pytest.mark.parametrize(
    "some", [["+pexpireat"], ["+@hash"], ["+pexpireat", "+hset"], ["+@hash", "+zadd"], ["+@write", "-zadd"]]
)
@pytest.mark.parametrize("policy", ["lru", "lfu"])
async def test_a_read_by_a_user_with_some_of_the_rights_is_answered_and_notes_nothing(
    backend: Backend, redis_url: str, raw: Redis, prefix: str, policy: str, some: list[str]
) -> None:
    driven = Driven(backend.store, dropping(policy=policy, ttl_ms=60_000))
    ids = (await driven.append(user("one"), user("two"))).ids
    before = await kept(raw, prefix, driven)
    name = f"some-{uuid.uuid4().hex}"
    rights = ["+@read", "+@connection", "+@scripting", "+time", "+info", *some]
    await raw.acl_setuser(name, enabled=True, passwords=["+sesame"], keys=[f"{prefix}*"], commands=rights)
    reader = await connect_redis(redis_url.replace("://", f"://{name}:sesame@"), prefix=prefix)
    try:
        limits = dropping(policy=policy, ttl_ms=120_000, refresh_on_read=True)
        reading = replace(driven, store=reader.store, limits=limits)
        assert await reading.texts() == ["one", "two"]
        assert texts_of(await reading.read(ids=ids)) == ["one", "two"]
        assert await kept(raw, prefix, driven) == before
    finally:
        await reader.store.close()
        await raw.acl_deluser(name)


@pytest.mark.parametrize("command", ["COPY", "ZREM", "HSETNX"])
async def test_a_server_that_has_a_command_under_another_name_keeps_its_memories_whole(
    server_folder: Path, command: str
) -> None:
    def program(ports: Any) -> list[str]:
        options = ("--port", str(ports[0]), "--save", "", "--rename-command", command, "")
        return [str(find_program()), *options, "--set-proc-title", "no"]

    server = await start_server(ServerSpec("renamed", program, 1, READY), server_folder / f"without-{command}")
    backend = await connect_redis(f"redis://127.0.0.1:{server.ports[0]}/0")
    driven = Driven(backend.store, LIMITS["summarising"])
    for _ in range(2):  # the second one would find what the first one left
        with pytest.raises(MemoryUnavailable, match=f"unknown command '{command.lower()}'"):
            await driven.append(user("first"))
    assert (await driven.read()).version == "absent"
    await backend.store.close()
    server.kill()
