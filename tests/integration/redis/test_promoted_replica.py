"""A replica takes over that had not everything yet: who wrote meanwhile is known again, and listed."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from durable_memory import MemoryClient, Registry
from durable_memory.dev import start_valkey
from durable_memory.memory.caller import ProcessCaller
from durable_memory.memory.clock import SystemClock
from durable_memory.memory.identity import Owner, WorkflowId
from durable_memory.memory.memory import Memory
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis import script_runner
from durable_memory.memory.stores.redis.keys import MEMORY_KEYS, RedisKeys
from durable_memory.memory.stores.redis.scripts import Script, load_script
from durable_memory.testing.contracts.builders import summarising, user
from durable_memory.testing.contracts.driven import Driven
from tests.integration.redis.proxy import Proxy, open_proxy
from tests.integration.redis.topologies import ask

REGISTRY = Registry.from_resources([{"resource": "memory", "id": "plan", "max_tokens": 4000, "scope": "temp"}])


class Workflow(ProcessCaller):
    """A caller that owns what it writes."""

    def __init__(self, name: str) -> None:
        """name: of the workflow and its run."""
        super().__init__(SystemClock())
        self.owner = Owner("default", name, name)


@dataclass
class Service:
    """A primary behind an address that moves to its replica. client: connected to the address."""

    client: MemoryClient
    proxy: Proxy
    primary: Redis
    replica: Redis

    def memory(self, workflow: str) -> Memory:
        """The one memory, as a workflow sees it."""
        return self.client.calling_as(Workflow(workflow)).memory("plan", "shared")

    async def stop_replicating(self) -> None:
        """Waits until the replica has everything, and lets it have no more: it is behind from now on."""
        await self.primary.set("mark", 1)  # WAIT is for what its own connection has written, and all before it
        assert await self.primary.wait(1, 60_000) == 1
        await ask(self.replica, "REPLICAOF", "NO", "ONE")

    async def fail_over(self) -> None:
        """Moves the address to the replica."""
        for name in ("append", "index_register", "read"):  # the proxy passes requests in one piece, and they are large
            await ask(self.replica, "SCRIPT", "LOAD", load_script(name).source.decode())
        self.proxy.port = self.replica.connection_pool.connection_kwargs["port"]
        self.proxy.cut_before = 1  # with it all idle connections are given up

    async def workflows(self) -> list[str]:
        """Returns who keeps the memory, as the index has it."""
        index, project = self.client.parts.backends["redis"].index, self.client.project
        page = await index.owners(project, None, 100)
        return sorted(binding.owner.workflow_id for binding in page.bindings)


@pytest.fixture
async def service(server_folder: Path) -> AsyncIterator[Service]:
    servers = [await start_valkey(server_folder / f"promoted-{uuid4().hex}") for _ in range(2)]
    primary, replica = (Redis.from_url(each.url, socket_timeout=60) for each in servers)
    port = servers[0].server.ports[0]
    async with primary, replica, open_proxy("127.0.0.1", port) as proxy:
        await primary.config_set("repl-diskless-sync-delay", 0)
        await ask(replica, "REPLICAOF", "127.0.0.1", port)
        async with await MemoryClient.connect(proxy.url, memories=REGISTRY) as client:
            yield Service(client, proxy, primary, replica)
    for each in servers:
        each.server.kill()


async def test_a_workflow_whose_first_write_was_lost_keeps_the_memory_that_it_writes_to(service: Service) -> None:
    await service.memory("one").append("from one")
    await service.stop_replicating()
    await service.memory("two").append("lost")
    await service.fail_over()
    await service.memory("two").append("from two")
    assert [message.text for message in (await service.memory("one").read()).messages] == ["from one", "from two"]
    assert await service.workflows() == ["one", "two"]
    ended = await service.client.parts.backends["redis"].index.ending(
        service.client.project, WorkflowId("default", "one"), ["one"]
    )
    assert list(ended.values()) == [False], "it is cleared at the end of the first workflow, with what the second wrote"


async def test_a_memory_whose_birth_was_lost_is_born_again_and_listed(service: Service) -> None:
    await service.memory("of another").append("from another")
    await service.stop_replicating()
    await service.client.calling_as(Workflow("two")).memory("plan", "own").append("lost", operation_id="step 1")
    await service.fail_over()
    again = (
        await service.client.calling_as(Workflow("two")).memory("plan", "own").append("kept", operation_id="step 1b")
    )
    assert again.created
    assert [listed.key async for listed in service.client.list_memories("plan")] == ["own", "shared"]
    assert await service.workflows() == ["of another", "two"]


async def test_whose_memory_was_flushed_away_and_born_again_by_another_keeps_it_as_well(service: Service) -> None:
    for name in ("one", "two"):
        await service.memory(name).append(f"from {name}")
    await service.primary.flushall()
    for name in ("one", "two"):
        await service.memory(name).append(f"again from {name}")
    assert await service.workflows() == ["one", "two"]
    assert [listed.key async for listed in service.client.list_memories("plan")] == ["shared"]
    before = (await service.primary.info("commandstats"))["cmdstat_evalsha"]["calls"]
    await service.memory("two").append("steady")
    assert (await service.primary.info("commandstats"))["cmdstat_evalsha"]["calls"] - before == 1


async def test_a_steady_writer_is_registered_once_more_for_each_loss_and_not_for_each_write(service: Service) -> None:
    memory = service.memory("one")
    await memory.append("first")
    service.proxy.cut_before = 1
    await memory.append("second")
    before = (await service.primary.info("commandstats"))["cmdstat_evalsha"]["calls"]
    for number in range(5):
        await memory.append(f"steady {number}")
    assert (await service.primary.info("commandstats"))["cmdstat_evalsha"]["calls"] - before == 5


async def test_a_flush_waits_for_no_moment_that_a_clock_ahead_has_named(
    backend: Backend, raw: Redis, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server that failed was ten minutes ahead: what it noted lies in the future of the one that took over."""
    failed, held = (Driven(backend.store, summarising()) for _ in range(2))
    for driven in (failed, held):
        await driven.append(*(user(text) for text in "abcdefg"))
    batch, _ = await failed.batch("flusher/1"), await held.batch("flusher/1")
    with monkeypatch.context() as ahead:
        ahead.setattr(script_runner, "load_script", _ten_minutes_ahead)
        assert await backend.store.fail(failed.memory, batch, "MemoryModelUnavailable", 60_000) is None
    last = (await failed.stats()).last_flush_at
    assert last is not None
    assert last.timestamp() > failed.clock.now_ms() / 1_000 + 300
    lease = RedisKeys(prefix).memory(held.memory).names[MEMORY_KEYS.index("lease")]
    await raw.pexpire(lease, 630_000)
    assert (await failed.flush("flusher/2")).outcome == "committed"
    assert (await held.refused_begin("flusher/2")).retry_after_ms <= 30_000
    assert await raw.pttl(lease) <= 30_000


def _ten_minutes_ahead(name: str) -> Script:
    source = load_script(name).source.replace(b"redis.call('TIME')", b"{redis.call('TIME')[1] + 600, 0}")
    sha = hashlib.sha1(source, usedforsecurity=False).hexdigest().encode()
    return Script(source, sha, b"$7\r\nEVALSHA\r\n$40\r\n" + sha + b"\r\n")
