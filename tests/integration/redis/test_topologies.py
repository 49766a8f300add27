"""A cluster and a failover: the same memory, wherever its slot lies and whoever the primary is."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis, RedisCluster

from durable_memory import MemoryClient, Registry
from durable_memory.memory.errors import MemoryInvalid, MemoryUnavailable
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis import attempts, cluster_link, outage, waiting_line
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.memory.stores.redis.keys import RedisKeys
from durable_memory.memory.stores.redis.scripts import Script
from durable_memory.testing.contracts.builders import call, divided, result, summarising, system, user
from durable_memory.testing.contracts.driven import Driven
from tests.integration.redis.topologies import append_until_it_lands, ask, open_cluster, open_sentinels, replicated
from tests.integration.redis.warnings_at_start import warnings_of
from tests.logs import said_by


@pytest.fixture(scope="module")
async def cluster_url(server_folder: Path) -> AsyncIterator[str]:
    async with open_cluster(server_folder / "cluster") as url:
        yield url


@pytest.fixture(scope="module")
async def clustered(cluster_url: str) -> AsyncIterator[Backend]:
    backend = await connect_redis(cluster_url)
    yield backend
    await backend.store.close()


async def test_memories_live_on_every_node_and_every_operation_works_there(
    clustered: Backend, cluster_url: str
) -> None:
    project = uuid.uuid4().hex
    nodes = set()
    async with RedisCluster.from_url(cluster_url.replace("redis+cluster", "redis")) as cluster:
        for key in ["a", "a{b}", "}{", "{}", "b", "c", "d", "e", "😀"]:
            memory = MemoryId(project, "desk", key)
            node = cluster.get_node_from_key(RedisKeys("dm:").memory(memory).names[0].decode())
            assert node is not None
            nodes.add(node.name)
            driven = Driven(clustered.store, summarising(policy="lru", ttl_ms=3_600_000), memory)
            await driven.append(system("rule", 5), call("call", "x"), result("answer", "x", 5))
            appended = [await driven.append(user(f"m{number}")) for number in range(8)]
            await driven.touch(appended[-1].ids[0])
            committed = await driven.flush()
            assert committed.summary_id is not None
            assert (await driven.texts())[:1] == ["rule"]
            await driven.delete(committed.summary_id)
            given_up = await driven.batch("flusher/2", force=True)
            assert await clustered.store.renew(memory, given_up, driven.limits)
            assert await clustered.store.fail(memory, given_up, "Boom", 0) is None
            await driven.check_counters()
            await driven.write(user("new"), if_version=(await driven.read()).version)
            assert await driven.texts() == ["new"]
            assert (await driven.clear()).cleared == 1
            await clustered.index.register(memory, Owner("ns", "wf", "run"))
    assert len(nodes - {None}) == 3, "the keys of this test must reach every node"
    listed = await clustered.index.memories(project, "desk", None, 100)
    assert len(listed.memories) == 9


async def test_sections_share_the_slot_of_their_memory_also_for_who_does_not_know_them(clustered: Backend) -> None:
    for number in range(6):
        driven = Driven(clustered.store, divided(), MemoryId(uuid.uuid4().hex, "desk", f"key {number}"))
        await driven.append(user("b", section="bookings"), user("n", section="notes"), user("c"))
        await driven.flush(force=True)
        await driven.append(user("b2", section="bookings"))
        stranger = driven.under(summarising())
        assert (await stranger.texts())[1:] == ["b2"]
        assert (await stranger.clear()).cleared == 2


async def test_a_cluster_is_used_in_its_own_event_loop_alone(clustered: Backend) -> None:
    driven = Driven(clustered.store, summarising(), MemoryId(uuid.uuid4().hex, "desk", "k"))
    for foreign in (lambda: driven.append(user("m")), clustered.store.ping, clustered.store.close):
        with pytest.raises(MemoryInvalid, match="another event loop"):
            await asyncio.to_thread(asyncio.run, foreign())
    await driven.append(user("m"))
    assert await driven.texts() == ["m"]


async def test_writers_of_a_cluster_lose_nothing(clustered: Backend) -> None:
    wide = summarising(max_tokens=1_000_000, due_tokens=None, target_tokens=None, overflow_tokens=2_000_000)
    driven = Driven(clustered.store, wide)
    await asyncio.gather(*(driven.append(user(f"m{number}")) for number in range(200)))
    assert sorted(await driven.texts()) == sorted(f"m{number}" for number in range(200))


async def test_a_burst_waits_for_its_turn_at_each_node_and_is_no_outage(
    clustered: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    wide = summarising(max_tokens=1_000_000, due_tokens=None, target_tokens=None, overflow_tokens=2_000_000)
    memories = [Driven(clustered.store, wide) for _ in range(10)]
    await asyncio.gather(*(memories[number % 10].append(user("m")) for number in range(1_500)))
    assert [(await driven.stats()).messages["short_term"] for driven in memories] == [150] * 10
    assert said_by(caplog, outage.__name__) == []


async def test_calls_stand_in_line_at_a_node_behind_others_to_which_it_answers_with_an_error(
    cluster_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_line, "MAX_CONNECTIONS", 1)
    monkeypatch.setattr(attempts, "CALL_SECONDS", 2)
    async with RedisCluster.from_url(cluster_url.replace("redis+cluster", "redis")) as cluster:
        link = cluster_link.ClusterLink(cluster, cluster_url)
        slowly = b"for _ = 1, 1e7 do end return redis.error_reply('ERR no')"
        script = Script(slowly, hashlib.sha1(slowly, usedforsecurity=False).hexdigest().encode(), b"")
        keys = RedisKeys("dm:").memory(MemoryId(uuid.uuid4().hex, "desk", "key"))
        answers = await asyncio.gather(*(link.run(script, keys, []) for _ in range(90)), return_exceptions=True)
    assert {f"{type(answer).__name__}: {answer}" for answer in answers} == {"ResponseError: no"}


async def test_a_cluster_keeps_the_time_since_which_a_late_activity_counts(clustered: Backend) -> None:
    project = uuid.uuid4().hex
    answers = [await clustered.starts.first(project, "run/5", proposed_ms, 60_000) for proposed_ms in (1_000, 2_000)]
    assert answers == [1_000, 1_000]


@asynccontextmanager
async def moving_slot(cluster_url: str, memory: MemoryId) -> AsyncIterator[Callable[[int], Awaitable[None]]]:
    """Begins to move the slot of a memory to another node.

    Yields a function that moves so many of its keys, and ends with the move.
    """
    key = RedisKeys("dm:").memory(memory).names[0]
    async with RedisCluster.from_url(cluster_url.replace("redis+cluster", "redis")) as cluster:
        here = cluster.get_node_from_key(key.decode())
        assert here is not None
        there = next(node for node in cluster.get_primaries() if node != here)
        slot = cluster.keyslot(key)
        async with Redis(port=int(here.port)) as source, Redis(port=int(there.port)) as target:
            ids = [(await ask(node, "CLUSTER", "MYID")).decode() for node in (source, target)]

            async def move(count: int) -> None:
                for name in await ask(source, "CLUSTER", "GETKEYSINSLOT", slot, count):
                    await ask(source, "MIGRATE", "127.0.0.1", there.port, name, 0, 5_000)

            await ask(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
            await ask(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
            yield move
            await move(1_000)
            for node in (target, source):
                await ask(node, "CLUSTER", "SETSLOT", slot, "NODE", ids[1])


async def test_a_call_waits_for_a_slot_that_moves_to_another_node(clustered: Backend, cluster_url: str) -> None:
    driven = Driven(clustered.store, summarising())
    await driven.append(user("before"))
    async with moving_slot(cluster_url, driven.memory) as move:
        await move(1)
        waiting = asyncio.create_task(driven.append(user("meanwhile")))
        await asyncio.sleep(1)
        assert not waiting.done()
    assert not (await waiting).already_applied
    assert await driven.texts() == ["before", "meanwhile"]


@pytest.mark.parametrize("moved", [0, 1, 1_000])
async def test_a_slot_that_goes_on_moving_is_unavailable_and_nothing_is_lost(
    clustered: Backend, cluster_url: str, moved: int
) -> None:
    driven = Driven(clustered.store, summarising())
    await driven.append(user("before"))
    async with moving_slot(cluster_url, driven.memory) as move:
        await move(moved)
        with pytest.raises(MemoryUnavailable, match="moves the part of its cluster where this is kept"):
            await driven.append(user("once"), op="once")
    await driven.append(user("once"), op="once")
    assert await driven.texts() == ["before", "once"]


async def test_a_user_whom_a_cluster_refuses_is_told_so_at_once(cluster_url: str) -> None:
    with pytest.raises(MemoryUnavailable, match="refuses this user or password: AuthenticationError"):
        await connect_redis(cluster_url.replace("://", "://somebody:sesame@"))


async def test_what_the_index_of_a_cluster_lost_unseen_is_told_to_it_again(
    clustered: Backend, cluster_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_link, "UNASKED_SECONDS", 0.5)
    registry = Registry.from_resources([{"resource": "memory", "id": "desk", "max_tokens": 4000}])
    client = MemoryClient(registry, {"redis": clustered}, project=uuid.uuid4().hex)
    memory = client.memory("desk", "key")
    await memory.append("one")
    keys = RedisKeys("dm:").index(client.project, "desk").names
    async with RedisCluster.from_url(cluster_url.replace("redis+cluster", "redis")) as cluster:
        await cluster.delete(*keys)  # the node of the index was replaced by a replica that had not seen it
    assert [listed.key async for listed in client.list_memories("desk")] == []
    async with asyncio.timeout(60):
        while not [listed.key async for listed in client.list_memories("desk")]:
            await memory.append("more")
            await asyncio.sleep(0.05)


async def test_a_cluster_takes_writes_when_each_primary_does(clustered: Backend, cluster_url: str) -> None:
    async with RedisCluster.from_url(cluster_url.replace("redis+cluster", "redis")) as cluster:
        await cluster.initialize()
        one = cluster.get_primaries()[0]
        await clustered.store.check_rights(MemoryId("p", "desk", "key"))
        await cluster.config_set("maxmemory", 1, target_nodes=[one])
        for _ in range(5):  # whichever is asked first
            with pytest.raises(MemoryUnavailable, match="out of memory"):
                await clustered.store.ping()
        await cluster.config_set("maxmemory", 0, target_nodes=[one])
        await clustered.store.ping()


async def test_what_fails_on_one_primary_leaves_no_question_to_another_one_behind(
    clustered: Backend, cluster_url: str
) -> None:
    async with RedisCluster.from_url(cluster_url.replace("redis+cluster", "redis")) as cluster:
        full, *_, slow = cluster.get_primaries()
        await cluster.config_set("maxmemory", 1, target_nodes=[full])
        await cluster.client_pause(60_000, all=False, target_nodes=[slow])
        before = asyncio.all_tasks()
        with pytest.raises(MemoryUnavailable, match="out of memory"):
            await clustered.store.ping()
        left = asyncio.all_tasks() - before
        await cluster.client_unpause(target_nodes=[slow])
        await cluster.config_set("maxmemory", 0, target_nodes=[full])
    assert left == set()
    await clustered.store.ping()


async def test_a_cluster_is_warned_of_like_a_server(cluster_url: str) -> None:
    (warning,) = await warnings_of(cluster_url)
    assert "append-only file" in warning


async def test_one_primary_of_a_cluster_that_may_lose_seconds_is_enough_to_warn(server_folder: Path) -> None:
    async with open_cluster(server_folder / "safe-cluster", appendonly="yes", appendfsync="always") as url:
        assert await warnings_of(url) == ()
        async with RedisCluster.from_url(url.replace("redis+cluster", "redis")) as cluster:
            first, _, last = cluster.get_primaries()
            await cluster.config_set("appendfsync", "everysec", target_nodes=[last])
            [warning] = await warnings_of(url)
            assert warning.startswith("Redis has appendfsync everysec: a crash of its machine loses")
            await cluster.config_set("appendfsync", "no", target_nodes=[first])
            assert {text.split(":")[0] for text in await warnings_of(url)} == {
                "Redis has appendfsync no",
                "Redis has appendfsync everysec",
            }
            # Without the file it does not matter when it would be written.
            await cluster.config_set("appendonly", "no", target_nodes=[first])
            without, seconds = await warnings_of(url)
            assert without.startswith("Redis runs without an append-only file")
            assert seconds == warning


async def test_a_cluster_may_have_a_single_primary(server_folder: Path) -> None:
    async with open_cluster(server_folder / "single-cluster", primaries=1, appendonly="yes") as url:
        backend = await connect_redis(url)
        await backend.store.ping()
        driven = Driven(backend.store, summarising())
        await driven.append(user("hello"))
        assert await driven.texts() == ["hello"]
        await backend.store.close()
        [warning] = await warnings_of(url)
        assert "appendfsync everysec" in warning


async def test_sentinels_that_ask_for_a_password_are_given_their_own(server_folder: Path) -> None:
    async with open_sentinels(server_folder / "secured") as service:
        places = urlsplit(service.url).netloc
        for place in places.split(","):
            async with Redis(port=int(place.rpartition(":")[2])) as sentinel:
                await ask(sentinel, "ACL", "SETUSER", "default", "resetpass", ">sesame")
        for wrong in ("", "?sentinel_password=simsim"):
            with pytest.raises(
                MemoryUnavailable, match=r"'mem' \(AuthenticationError\); .*\?sentinel_password=$"
            ) as refused:
                await connect_redis(service.url + wrong)
            assert "simsim" not in refused.value.message
        backend = await connect_redis(f"{service.url}?sentinel_password=sesame")
        driven = Driven(backend.store, summarising())
        await driven.append(user("m"))
        assert await driven.texts() == ["m"]
        await backend.store.close()


async def test_appends_go_on_after_a_failover_and_each_lands_once(server_folder: Path) -> None:
    async with open_sentinels(server_folder / "sentinels") as service:
        backend = await connect_redis(service.url)
        driven = Driven(backend.store, summarising(max_tokens=1_000_000, due_tokens=None, target_tokens=None))
        await driven.append(*(user(f"before{number}") for number in range(20)))
        await replicated(service.primary.ports[0])
        service.primary.kill()
        after = [f"after{number}" for number in range(20)]
        for text in after:
            await append_until_it_lands(driven, text)
        texts = await driven.texts()
        assert texts[:20] == [f"before{number}" for number in range(20)]
        assert texts[20:] == after
        await backend.store.close()
