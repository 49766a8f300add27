"""A worker tells of flushes that nobody does, and at its start of what Redis may lose: in its log and at /readyz."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis
from temporalio.client import Client

from durable_memory import MemoryClient, Registry
from durable_memory.dev import Valkey
from durable_memory.memory.clock import ManualClock
from durable_memory.memory.declarations.watching import Watch
from durable_memory.memory.stores.in_memory import open_in_memory
from durable_memory.running.reloading import Reloading
from durable_memory.worker.overdue_watch import OverdueFlushes
from tests.integration.redis.warnings_at_start import warnings_of
from tests.integration.worker.calling import calling
from tests.integration.worker.conftest import StartWorker
from tests.logs import said_by

RESOURCE = {"resource": "memory", "id": "desk", "max_tokens": 400, "persistence": {"type": "in_memory"}}
REGISTRY = Registry.from_resources([{**RESOURCE, "flushing": {"summary_tokens": 50, "keep_last": 0}}])


async def test_flushes_that_are_overdue_are_told_once_until_they_are_done(caplog: pytest.LogCaptureFixture) -> None:
    logger = OverdueFlushes.__module__
    caplog.set_level(logging.INFO, logger)
    clock = ManualClock(1_700_000_000_000)  # years behind that of the machine, which must not count
    backend = open_in_memory(clock)
    client = MemoryClient(REGISTRY, {"in_memory": backend}, clock=clock)
    watch = OverdueFlushes(backend, client.project, lambda: REGISTRY)
    memories = [client.memory("desk", uuid.uuid4().hex) for _ in range(2)]
    for memory in memories:
        await memory.append(["A sentence of about ten tokens, more or less."] * 22)
    await watch.look()
    assert not watch.notes
    clock.advance(seconds=301)
    for _ in range(3):
        await watch.look()
    [note] = watch.notes
    assert note.startswith("2 flushes are overdue")
    assert [record.getMessage() for record in said_by(caplog, logger)] == [note]
    for memory in memories:
        await memory.flush()
    await watch.look()
    assert watch.notes == ()
    assert said_by(caplog, logger)[-1].getMessage() == "no flush is overdue any more"


async def test_a_watch_in_which_anything_went_wrong_says_so_and_goes_on(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "desk.yaml").write_text(json.dumps(RESOURCE))
    again = asyncio.Event()
    loop = asyncio.get_running_loop()

    def fail() -> bool:
        loop.call_soon_threadsafe(again.set)
        raise RuntimeError("of nobody's making")

    files = Watch([tmp_path])
    monkeypatch.setattr(files, "looking", lambda: fail)
    every = timedelta(milliseconds=1)
    late = OverdueFlushes(open_in_memory(), "project", lambda: REGISTRY)
    monkeypatch.setattr(late, "look", lambda: asyncio.to_thread(fail))
    for watched in (late.watched(every), Reloading(files, lambda _: None, every).watched()):
        async with watched, asyncio.timeout(60):
            for _ in range(3):
                await again.wait()
                again.clear()
    said = {record.getMessage() for record in said_by(caplog, "durable_memory.running.repeating")}
    assert said == {
        "the look for overdue flushes failed; it is tried again",
        "the look whether declarations have changed failed; it is tried again",
    }


async def test_a_damaged_memory_hides_no_flush_that_is_overdue(redis_url: str) -> None:
    desk = {"resource": "memory", "id": "desk", "max_tokens": 400, "flushing": {"summary_tokens": 50, "keep_last": 0}}
    registry, project = Registry.from_resources([desk]), f"overdue-{uuid.uuid4().hex[:12]}"
    async with (
        await MemoryClient.connect(redis_url, memories=registry, project=project) as client,
        Redis.from_url(redis_url) as raw,
    ):
        for key in ("damaged", "overdue"):
            await client.memory("desk", key).append(["A sentence of about ten tokens, more or less."] * 22)
        place = f"dm:{{{project}/desk/"
        await raw.delete(f"{place}damaged}}:msg")
        # Due since the year 2001.
        await raw.hset(f"{place}overdue}}:meta", "due_at", 10**12)
        watch = OverdueFlushes(client.parts.backends["redis"], project, lambda: registry)
        await watch.look()
        [note] = watch.notes
        assert note.startswith("1 flush is overdue")


async def test_a_redis_that_may_lose_two_seconds_is_named_at_the_start_and_stays_ready(
    start_worker: StartWorker, own_valkey: Valkey, redis_url: str
) -> None:
    [warning] = await warnings_of(own_valkey.url)
    assert warning.startswith("Redis has appendfsync everysec")
    assert await warnings_of(redis_url) == ()
    async with start_worker(REDIS_URL=own_valkey.url) as worker:
        await worker.ready()
        await worker.entry(level="warning", message=warning)
        await worker.answers("/readyz", 200, f"ready\n{warning}\n")


async def test_callers_by_name_get_groups_and_the_time_of_an_answer(
    start_worker: StartWorker, temporal_client: Client, project: str
) -> None:
    place = {"memory": {"resource": "thread", "key": "k"}}
    async with start_worker() as worker, calling(temporal_client, project) as caller:
        await worker.ready()
        await caller.append("thread", "k", "Hello", "again")
        stats = await caller.call("memory.stats", {**place, "group_by": "role"})
        assert [(group["name"], group["messages"]) for group in stats["groups"]] == [("user", 2)]
        health = await caller.call("memory.health", {**place, "check_connectivity": True})
        assert health["answer_us"] > 0
