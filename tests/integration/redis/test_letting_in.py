"""No more connections can be made: those that there are are kept, and why is told."""

from __future__ import annotations

import asyncio
import socket
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.asyncio.sentinel import MasterNotFoundError

from durable_memory.dev import start_valkey
from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.memory.stores.redis.tls_sentinel import KnownSentinels
from durable_memory.testing.contracts.builders import summarising, user
from durable_memory.testing.contracts.driven import Driven
from tests.integration.redis.proxy import open_proxy
from tests.ports import quiet_ports

WIDE = summarising(max_tokens=1_000_000, due_tokens=None, target_tokens=None, overflow_tokens=2_000_000)


@dataclass
class Server:
    """A Redis of these tests' own. admin: a connection that stays; backend: with some connections, all idle."""

    url: str
    admin: Redis
    backend: Backend

    async def clients(self) -> set[str]:
        """Returns all that are connected."""
        return {client["id"] for client in await self.admin.client_list()}


@pytest.fixture
async def server(server_folder: Path) -> AsyncIterator[Server]:
    valkey = await start_valkey(server_folder / f"letting-in-{uuid.uuid4().hex}")
    try:
        backend = await connect_redis(valkey.url)
        async with Redis.from_url(valkey.url, single_connection_client=True) as admin:
            await asyncio.gather(*(Driven(backend.store, WIDE).append(user("m")) for _ in range(10)))
            yield Server(valkey.url, admin, backend)
        await backend.store.close()
    finally:
        valkey.server.kill()


async def test_a_burst_beyond_maxclients_keeps_the_connections_that_there_are(server: Server) -> None:
    before = await server.clients()
    await server.admin.config_set("maxclients", len(before))
    driven = Driven(server.backend.store, WIDE)
    await asyncio.gather(*(driven.append(user(f"m{number}")) for number in range(60)))
    assert await server.clients() == before
    assert len(await driven.texts()) == 60


@pytest.mark.usefixtures("one_retry")
async def test_who_finds_no_place_is_told_of_maxclients(server: Server) -> None:
    await server.admin.config_set("maxclients", len(await server.clients()))
    with pytest.raises(MemoryUnavailable, match=r"maxclients|max number of clients reached"):
        await connect_redis(server.url)


@pytest.mark.usefixtures("one_retry")
async def test_a_connection_that_is_closed_as_it_begins_tells_what_may_be_the_reason() -> None:
    [nobody] = quiet_ports(1)
    async with open_proxy("127.0.0.1", nobody) as proxy:
        with pytest.raises(MemoryUnavailable, match="closed as it began: the server's maxclients may be reached"):
            await connect_redis(proxy.url)


async def test_a_name_that_is_not_found_any_more_takes_no_connection(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = await connect_redis(server.url.replace("127.0.0.1", "localhost"))
    driven = Driven(backend.store, WIDE)
    await asyncio.gather(*(driven.append(user("before")) for _ in range(20)))
    connected = await server.clients()

    def not_found(*_: object, **__: object) -> None:
        time.sleep(0.1)  # in a thread; the connections that there are have answered by then
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with monkeypatch.context() as without_names:
        without_names.setattr(socket, "getaddrinfo", not_found)
        await asyncio.gather(*(driven.append(user(f"m{number}")) for number in range(60)))
    assert await server.clients() == connected
    assert len(await driven.texts()) == 80
    await backend.store.close()


async def test_a_password_that_was_changed_takes_no_connection_from_who_came_before(server: Server) -> None:
    driven = Driven(server.backend.store, WIDE)
    await server.admin.config_set("requirepass", "sesame")
    answers = await asyncio.gather(*(driven.append(user(f"m{number}")) for number in range(60)), return_exceptions=True)
    refused = [str(answer) for answer in answers if isinstance(answer, Exception)]
    assert 0 < len(refused) < 60
    assert {words.rpartition(" refuses ")[2] for words in refused} == {"this user or password: AuthenticationError"}
    await driven.append(user("one after the other"))
    await server.admin.config_set("requirepass", "")
    await asyncio.gather(*(driven.append(user(f"again{number}")) for number in range(60)))
    assert len(await driven.texts()) == 60 - len(refused) + 1 + 60


async def test_a_sentinel_that_others_who_asked_put_out_of_the_list_comes_back() -> None:
    [nobody] = quiet_ports(1)
    known = KnownSentinels([("127.0.0.1", nobody)] * 3)
    first, second, third = known.sentinels
    known.sentinels = [third, second, third]  # as two connections leave it that ask at the same time
    with pytest.raises(MasterNotFoundError):
        await known.discover_master("mem")
    assert known.sentinels == [third, first, second]
