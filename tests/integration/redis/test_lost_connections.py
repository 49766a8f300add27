"""What happens when the way to Redis breaks in the middle: a call lands exactly once, or is known to have failed."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.memory.types import AppendResult
from durable_memory.testing.contracts.builders import summarising, user
from durable_memory.testing.contracts.driven import Driven
from durable_memory.workflows.calling import CALL
from tests.integration.redis.proxy import Proxy

WIDE = summarising(max_tokens=1_000_000, due_tokens=None, target_tokens=None, overflow_tokens=2_000_000)


@pytest.mark.parametrize(
    "refusal",
    [
        b"-READONLY You can't write against a read only replica.\r\n",
        b"-LOADING Redis is loading the dataset in memory\r\n",
        b"-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n",
        b"-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
        b"-CLUSTERDOWN Hash slot not served\r\n",
        b"-BUSY Redis is busy running a script.\r\n",
        b"-MISCONF Redis is configured to save RDB snapshots, but it cannot write them.\r\n",
    ],
)
async def test_an_append_that_is_refused_three_times_for_the_moment_lands_once(
    proxied: Backend, proxy: Proxy, refusal: bytes
) -> None:
    driven = Driven(proxied.store, WIDE)
    proxy.refusals += [refusal] * 3
    result = await driven.append(user("once"))
    assert proxy.refusals == []
    assert not result.already_applied
    assert await driven.texts() == ["once"]


async def test_a_replica_is_asked_again_on_a_new_connection(proxied: Backend, proxy: Proxy) -> None:
    driven = Driven(proxied.store, WIDE)
    await driven.append(user("before"))
    connections = proxy.connections
    proxy.refusals.append(b"-READONLY You can't write against a read only replica.\r\n")
    await driven.append(user("after"))
    assert proxy.connections > connections


async def test_a_connection_cut_before_the_server_saw_the_append_is_replaced(proxied: Backend, proxy: Proxy) -> None:
    driven = Driven(proxied.store, WIDE)
    proxy.cut_before = 2
    result = await driven.append(user("once"))
    assert not result.already_applied
    assert await driven.texts() == ["once"]


async def test_an_append_whose_answer_was_lost_is_applied_exactly_once(proxied: Backend, proxy: Proxy) -> None:
    driven = Driven(proxied.store, WIDE)
    proxy.cut_after = 2
    result = await driven.append(user("once"))
    assert result.already_applied
    view = await driven.read()
    assert [entry.id for entry in view.entries] == list(result.ids)


async def test_tokens_of_a_model_whose_answers_were_lost_are_counted_once(proxied: Backend, proxy: Proxy) -> None:
    project, spending = f"project-{uuid.uuid4().hex}", proxied.spending
    proxy.cut_after = 1
    day = await spending.reserve(project, "desk", "first", 600, 1_000)
    assert day is not None
    assert await spending.reserve(project, "desk", "second", 300, 1_000) == day
    proxy.cut_after = 1
    await spending.settle(project, "desk", "first", 400, day)
    assert proxy.cut_after == 0
    assert await spending.spent(project, "desk") == 700


async def test_a_server_that_stays_away_is_unavailable_after_bounded_attempts(proxied: Backend, proxy: Proxy) -> None:
    driven = Driven(proxied.store, WIDE)
    await driven.append(user("before"))
    proxy.cut_before = 1_000
    with pytest.raises(MemoryUnavailable, match="cannot be reached") as refused:
        await driven.append(user("lost"))
    assert proxy.cut_before > 900
    assert "lost" not in refused.value.message
    proxy.cut_before = 0
    assert await driven.texts() == ["before"]


async def test_a_server_out_of_memory_is_unavailable_at_once(proxied: Backend, proxy: Proxy) -> None:
    driven = Driven(proxied.store, WIDE)
    proxy.refusals += [b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"] * 2
    with pytest.raises(MemoryUnavailable, match="out of memory"):
        await driven.append(user("no room"))
    assert len(proxy.refusals) == 1


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(
            b"-ERR unknown command 'EVALSHA', with args beginning with: 'abc' '3' 'dm:{p/chat/user:42}:meta'\r\n",
            r"refuses to run a script: unknown command 'EVALSHA'$",
            id="command",
        ),
        pytest.param(
            b"-ERR user_script:9: Script killed by user with SCRIPT KILL. script: 12ab, on @user_script:9.\r\n",
            "told to stop a script",
            id="killed",
        ),
        pytest.param(
            b"-ERR Unknown Redis command called from script script: 12ab, on @user_script:9.\r\n",
            "none of its commands may be renamed",
            id="renamed",
        ),
    ],
)
async def test_a_script_that_met_no_strange_data_is_no_damage(
    proxied: Backend, proxy: Proxy, answer: bytes, words: str
) -> None:
    driven = Driven(proxied.store, WIDE)
    for call in (driven.append(user("x")), proxied.index.register(driven.memory, None)):
        proxy.refusals += [answer]
        with pytest.raises(MemoryUnavailable, match=words) as refused:
            await call
        assert "user:42" not in refused.value.message


async def test_a_script_that_the_server_forgot_is_sent_again_whole(backend: Backend, raw: Redis) -> None:
    driven = Driven(backend.store, WIDE)
    await driven.append(user("before"))
    await raw.script_flush()
    result = await driven.append(user("after"))
    assert not result.already_applied
    assert await driven.texts() == ["before", "after"]


async def test_a_cancelled_call_leaves_no_answer_for_the_next_one(proxied: Backend, proxy: Proxy) -> None:
    driven = Driven(proxied.store, WIDE)
    proxy.held.clear()
    before = proxied.index.generation
    waiting = asyncio.create_task(driven.append(user("cancelled")))
    await proxy.holding.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert proxied.index.generation > before, "who took the call may be gone, and another server in its place"
    proxy.held.set()
    assert (await driven.stats()).messages["short_term"] == 1
    assert await driven.texts() == ["cancelled"]
    assert isinstance(await driven.append(user("next")), AppendResult)


async def test_calls_cancelled_at_any_moment_are_applied_whole_or_not_at_all(redis_url: str, prefix: str) -> None:
    backend = await connect_redis(redis_url, prefix=prefix)
    driven = Driven(backend.store, WIDE)
    dice = random.Random(7)
    sent = [f"{number}a {number}b" for number in range(300)]

    async def append(text: str) -> None:
        await asyncio.wait_for(driven.append(*(user(part) for part in text.split())), dice.random() * 0.002)

    await asyncio.gather(*(append(text) for text in sent), return_exceptions=True)
    await driven.append(user("last"))
    *stored, last = await driven.texts()
    assert last == "last"
    pairs = [f"{first} {second}" for first, second in zip(stored[::2], stored[1::2], strict=True)]
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) <= set(sent)
    await driven.check_counters()
    await backend.store.close()


async def test_a_server_that_stops_answering_is_unavailable_in_words_to_all_before_their_activities_time_out(
    proxy: Proxy, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("durable_memory.memory.stores.redis.waiting_line.MAX_CONNECTIONS", 2)
    backend = await connect_redis(proxy.url, prefix=prefix)
    driven = Driven(backend.store, WIDE)
    await driven.append(user("before"))
    proxy.held.clear()
    started = time.monotonic()
    # More callers than there are connections: those in line for one are told in time, too.
    held = await asyncio.gather(*(driven.append(user("held back")) for _ in range(8)), return_exceptions=True)
    limit = CALL.get("start_to_close_timeout")
    assert limit is not None
    assert timedelta(seconds=time.monotonic() - started) < limit
    assert {type(refused) for refused in held} == {MemoryUnavailable}
    assert {str(refused).partition("cannot be reached: ")[2] for refused in held} == {"no answer within 8 s"}
    proxy.held.set()
    await backend.store.close()


async def test_calls_in_line_behind_a_slow_server_are_all_answered(
    proxy: Proxy, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("durable_memory.memory.stores.redis.waiting_line.MAX_CONNECTIONS", 1)
    monkeypatch.setattr("durable_memory.memory.stores.redis.attempts.CALL_SECONDS", 2)
    backend = await connect_redis(proxy.url, prefix=prefix)
    driven = Driven(backend.store, WIDE)
    proxy.delay_seconds = 0.5
    appended = await asyncio.gather(*(driven.append(user("slow")) for _ in range(8)))
    assert len(appended) == 8
    await backend.store.close()


async def test_a_probe_that_has_no_turn_behind_slow_calls_says_so(
    proxy: Proxy, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("durable_memory.memory.stores.redis.waiting_line.MAX_CONNECTIONS", 2)
    backend = await connect_redis(proxy.url, prefix=prefix)
    driven = Driven(backend.store, WIDE)
    await driven.append(user("before"))
    proxy.held.clear()
    slow = [asyncio.create_task(driven.append(user("held back"))) for _ in range(4)]
    await proxy.holding.wait()
    with pytest.raises(MemoryUnavailable) as refused:
        await backend.store.ping()
    said, _, ago = refused.value.message.partition("; the last answer came ")
    assert said == (
        f"Redis at {proxy.url} could not be asked within 2 s: slow calls of this process hold all 2 connections"
    )
    assert float(ago.removesuffix(" s ago")) >= 2
    proxy.held.set()
    await asyncio.gather(*slow)
    await backend.store.ping()
    await backend.store.close()
