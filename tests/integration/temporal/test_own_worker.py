"""A worker of one's own: its plugin reads changed files again, and warns of a Redis that drops memories."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from redis.asyncio import Redis
from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory.dev import Valkey
from tests.integration.temporal.flows.budgets import TellBudget
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import plugin, unique
from tests.integration.worker.starting import own_valkey

__all__ = ["own_valkey"]

NOTES = "resource: memory\nid: notes\nmax_tokens: {budget}\nscope: user\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The declarations, which are looked at every second."""
    monkeypatch.setenv("DURABLE_MEMORY_RELOAD_INTERVAL", "1s")
    file = tmp_path / "notes.yaml"
    file.write_text(NOTES.format(budget=1000))
    return file


def told(caplog: pytest.LogCaptureFixture, words: str) -> int:
    """How many lines of our log hold these words."""
    return sum(words in record.getMessage() for record in caplog.records if record.name.startswith("durable_memory."))


async def test_declarations_that_change_hold_for_the_calls_from_then_on(
    file: Path, temporal_address: str, redis_url: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level("INFO", "durable_memory")
    monkeypatch.chdir(file.parent)
    client = await Client.connect(temporal_address, plugins=[plugin(redis_url, unique("project"), memories=["."])])
    monkeypatch.chdir("/")  # it was of the program's working directory when the plugin was made
    queue, other = unique("queue"), unique("queue")

    async def budget() -> int | None:
        return await client.execute_workflow(TellBudget.run, "notes", id=unique("run"), task_queue=queue)

    async def became(tokens: int) -> None:
        async def is_so() -> bool:
            return await budget() == tokens

        await eventually(is_so)

    async def is_faulty() -> bool:
        return told(caplog, "notes.yaml:5: max_tokenz: is not a field here") > 0

    before = asyncio.all_tasks()
    async with Worker(client, task_queue=queue, workflows=[TellBudget]):
        async with Worker(client, task_queue=other, workflows=[TellBudget]):
            assert await budget() == 1000
            declare(file, 2000)
            await became(2000)
            assert told(caplog, "the declarations were read again; changed: notes") == 1  # not by each worker
        declare(file, 3000, "max_tokenz: 5\n")
        await eventually(is_faulty)
        assert told(caplog, "the last good declarations stay in force") == 1
        assert await budget() == 2000
        declare(file, 4000)
        await became(4000)
    assert told(caplog, "the declarations were read again") == 2

    async def nobody_is_left() -> bool:
        return asyncio.all_tasks() <= before

    await eventually(nobody_is_left)  # who could read them


def declare(file: Path, budget: int, more: str = "") -> None:
    file.write_text(NOTES.format(budget=budget) + more)


async def test_the_log_says_once_what_runs_and_what_redis_may_lose(
    file: Path, temporal_address: str, own_valkey: Valkey, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "durable_memory")
    async with Redis.from_url(own_valkey.url) as redis:
        await redis.config_set("maxmemory-policy", "allkeys-lru")
        await redis.config_set("appendonly", "no")
    given = plugin(own_valkey.url, "watched", memories=[file.parent])
    client = await Client.connect(temporal_address, plugins=[given])

    async def is_told() -> bool:
        return told(caplog, "append-only") > 0

    async with (
        Worker(client, task_queue=unique("queue"), workflows=[TellBudget]),
        Worker(client, task_queue=unique("queue"), workflows=[TellBudget]),
    ):
        await eventually(is_told)
        assert (
            told(caplog, f"memories: 1 in {file.parent}; project watched, whose flushes run on flushes-of-watched") == 1
        )
        warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
        assert sum("maxmemory-policy allkeys-lru" in warning for warning in warnings) == 1
        assert sum("append-only" in warning for warning in warnings) == 1
