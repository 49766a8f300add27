"""A Redis that cannot do its part is a typed error in one sentence: never an empty memory, damage, or a traceback."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis

from durable_memory import MemoryClient, Message, Registry
from durable_memory.dev import start_valkey
from durable_memory.memory.errors import MemoryDamaged, MemoryInvalid, MemoryUnavailable
from durable_memory.memory.identity import WorkflowId
from durable_memory.memory.stores.redis.scripts import load_script
from tests.integration.cases.conftest import unique
from tests.integration.redis.proxy import fake_server, open_proxy
from tests.integration.redis.topologies import ask


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param("{}/99000", id="database"),
        pytest.param("{}/0?client_name=two%20words", id="name"),
        pytest.param("{}/0?decode_responses=true", id="text"),
        pytest.param("{}/0?protocol=9", id="protocol"),
        pytest.param("{}/0?socket_timeout=0.001", id="timeout"),
        pytest.param("redis+sentinel://{host}/service", id="no-sentinel"),
        pytest.param("rediss://{host}/0?ssl_cert_reqs=sometimes", id="tls"),
        pytest.param("redis://:hunter?2@{host}/0", id="password-with-question-mark"),
        pytest.param("redis://:hunter#2@{host}/0", id="password-with-hash"),
        pytest.param("redis://{host}/0?password=hunter@2&no_such=1", id="password-as-option"),
    ],
)
async def test_a_url_that_cannot_be_right_is_refused_in_one_sentence_without_its_secrets(
    redis_url: str, folder: Path, wrong: str
) -> None:
    host = urlsplit(redis_url).netloc
    with pytest.raises(MemoryInvalid, match=r"^[^\n]*$") as refused:
        await MemoryClient.connect(wrong.format(f"redis://{host}", host=host), memories=[folder])
    assert "hunter" not in str(refused.value)


async def test_a_server_that_is_no_redis_is_named_as_such(folder: Path) -> None:
    async def answer(_: bytes) -> bytes:
        return b"HTTP/1.1 400 Bad Request\r\n\r\n"

    async with fake_server(answer) as url:
        with pytest.raises(MemoryUnavailable, match="does not speak Redis"):
            await MemoryClient.connect(url, memories=[folder])


@pytest.mark.parametrize(
    ("keys", "lacking", "named"),
    [
        ("*", "-zadd", "the command 'zadd'"),  # in a script
        ("*", "-evalsha", "the command 'evalsha'"),
        ("other:*", "-zadd", "a key"),
    ],
)
async def test_a_user_without_the_rights_is_told_which_one_it_lacks(
    redis_url: str, folder: Path, keys: str, lacking: str, named: str
) -> None:
    user = unique("user")
    async with Redis.from_url(redis_url) as raw:
        await raw.acl_setuser(user, enabled=True, passwords=["+sesame"], keys=[keys], commands=["+@all", lacking])
        url = redis_url.replace("://", f"://{user}:sesame@")
        async with await MemoryClient.connect(url, memories=[folder], project="p") as client:
            with pytest.raises(MemoryUnavailable, match=f"refuses this user {named}") as refused:
                await client.memory("chat", user).append("x")
        await raw.acl_deluser(user)
    assert "sesame" not in str(refused.value)
    assert user not in str(refused.value)


@pytest.mark.parametrize(
    ("refusing", "words"),
    [
        pytest.param(("CONFIG", "SET", "maxmemory", "1"), "is out of memory", id="full"),
        pytest.param(
            ("REPLICAOF", "127.0.0.1", "1"), "is a read-only replica and refuses writes: name its primary", id="replica"
        ),
    ],
)
async def test_a_redis_that_takes_no_writes_is_a_problem_of_health_beside_the_counters(
    server_folder: Path, folder: Path, refusing: tuple[str, ...], words: str
) -> None:
    valkey = await start_valkey(server_folder / unique("valkey"), fsync="everysec")
    async with (
        await MemoryClient.connect(valkey.url, memories=[folder]) as client,
        Redis.from_url(valkey.url) as raw,
    ):
        memory = client.memory("chat", "key")
        await memory.append("one")
        assert (await memory.health()).problems == ()
        await ask(raw, *refusing)
        health = await memory.health(check_connectivity=True)
        [problem] = health.problems
        assert words in problem
        assert (health.stats is not None, health.answer_us) == (True, None)
    valkey.server.kill()


async def test_a_read_with_authors_waits_for_no_write_that_is_refused(
    server_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    valkey = await start_valkey(server_folder / unique("valkey"))
    declared = {"resource": "memory", "id": "d", "max_tokens": 900, "eviction_policy": {"type": "lru"}}
    agent = {"resource": "agent", "id": "clerk", "memory": "d"}
    registry = Registry.from_resources([declared, agent])
    async with (
        await MemoryClient.connect(valkey.url, memories=registry) as client,
        Redis.from_url(valkey.url) as raw,
    ):
        memory = client.memory("d", "key", agent="clerk")
        ids = (await memory.append(Message.assistant("It is in Lyon."))).ids
        await memory.read(ids=ids, authors=True)
        await raw.config_set("min-replicas-to-write", 1)
        started = time.perf_counter()
        view = await memory.read(ids=ids, authors=True)
        took = time.perf_counter() - started
    assert [(message.text, message.name) for message in view.messages] == [("It is in Lyon.", "clerk")]
    assert took < 1.5, "the retries of a write take three seconds"
    assert [record.getMessage() for record in caplog.records if "does not answer" in record.getMessage()] == []
    valkey.server.kill()


async def test_health_times_the_store_alone_and_waits_for_no_right_to_pass(redis_url: str, folder: Path) -> None:
    parts = urlsplit(redis_url)
    async with (
        open_proxy(str(parts.hostname), int(parts.port or 0)) as proxy,
        await MemoryClient.connect(proxy.url, memories=[folder], project=unique("project")) as client,
    ):
        memory = client.memory("chat", "key")
        proxy.is_script = lambda request: load_script("check_rights").call in request  # type: ignore[method-assign] # of one test
        proxy.delay_seconds = 0.7
        health = await memory.health(check_connectivity=True)
        assert (health.problems, (health.answer_us or 10**9) < 600_000) == ((), True)
        proxy.held.clear()
        started = time.perf_counter()
        [problem] = (await memory.health()).problems
        assert time.perf_counter() - started < 4, "a call would have waited for eight seconds"
        assert "no answer within 2 s" in problem
        proxy.held.set()


async def test_an_append_whose_view_cannot_be_read_says_that_the_messages_stand(redis_url: str, folder: Path) -> None:
    parts = urlsplit(redis_url)
    async with (
        open_proxy(str(parts.hostname), int(parts.port or 0)) as proxy,
        await MemoryClient.connect(proxy.url, memories=[folder], project=unique("project")) as client,
    ):
        memory = client.memory("chat", "key")
        proxy.is_script = lambda request: load_script("read").call in request  # type: ignore[method-assign] # of one test
        proxy.refusals.append(b"-OOM command not allowed when used memory > 'maxmemory'.\r\n")
        with pytest.raises(MemoryUnavailable, match=r"out of memory.*; the messages were appended all the same"):
            await memory.append("once", want_view=True)
        assert [message.text for message in (await memory.read()).messages] == ["once"]


async def test_an_append_that_stands_and_is_not_listed_says_so(redis_url: str, folder: Path) -> None:
    parts = urlsplit(redis_url)
    registering: list[bytes] = []

    def is_second_registering(request: bytes) -> bool:
        registering.extend([request] if load_script("index_register").call in request else [])
        return len(registering) == 2  # the first one goes before the append

    async with (
        open_proxy(str(parts.hostname), int(parts.port or 0)) as proxy,
        await MemoryClient.connect(proxy.url, memories=[folder], project=unique("project")) as client,
    ):
        memory = client.memory("chat", "key")
        proxy.is_script = is_second_registering  # type: ignore[method-assign] # of one test
        proxy.refusals.append(b"-OOM command not allowed when used memory > 'maxmemory'.\r\n")
        with pytest.raises(MemoryUnavailable, match=r"out of memory.*; the messages are stored all the same: repeat"):
            await memory.append("once", operation_id="turn-1")
        again = await memory.append("once", operation_id="turn-1")
        assert (again.already_applied, again.messages) == (True, 1)
        assert [listed.key async for listed in client.list_memories("chat")] == ["key"]


async def test_an_index_that_foreign_hands_changed_is_damage(redis_url: str, folder: Path) -> None:
    project = unique("project")
    async with (
        Redis.from_url(redis_url) as raw,
        await MemoryClient.connect(redis_url, memories=[folder], project=project) as client,
    ):
        await raw.set(f"dm:{{{project}}}:due", "what somebody else keeps here")
        with pytest.raises(MemoryDamaged, match="a key of this project"):
            await client.memory("chat", "key").append("x")
        await raw.delete(f"dm:{{{project}}}:due")
        assert (await client.memory("chat", "key").append("x")).created


@pytest.mark.parametrize("bound", [b"foreign", b"chat/key run", b"chat/key run late", b"chat/key run 1 2"])
async def test_an_owner_whose_record_foreign_hands_changed_is_damage(
    redis_url: str, folder: Path, bound: bytes
) -> None:
    project = unique("project")
    async with (
        Redis.from_url(redis_url) as raw,
        await MemoryClient.connect(redis_url, memories=[folder], project=project) as client,
    ):
        await raw.zadd(f"dm:{{{project}}}:bindings", {b"o:default/workflow " + bound: 0})
        index = client.parts.backends["redis"].index
        for asked in (index.owners(project, None, 10), index.bindings(project, WorkflowId("default", "workflow"))):
            with pytest.raises(MemoryDamaged, match="a key of this project"):
                await asked


async def test_a_redis_that_is_gone_is_an_error_of_every_operation_and_no_empty_memory(
    server_folder: Path, folder: Path
) -> None:
    valkey = await start_valkey(server_folder / unique("valkey"), fsync="everysec")
    async with await MemoryClient.connect(valkey.url, memories=[folder]) as client:
        memory = client.memory("chat", "key")
        one = (await memory.append("one")).ids
        valkey.server.kill()
        listing = client.list_memories("chat")
        calls = (memory.append("x"), memory.record_turn("x"), memory.read(), memory.write("x"), memory.touch(one))
        more = (memory.delete(one), memory.clear(confirm=True), memory.flush(), memory.stats(), anext(listing))
        ended = await asyncio.gather(*calls, *more, memory.health(), return_exceptions=True)
        assert [type(error) for error in ended[:-1]] == [MemoryUnavailable] * 10
        assert getattr(ended[-1], "healthy", None) is False
