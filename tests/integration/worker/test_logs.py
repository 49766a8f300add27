"""The log says what runs and what could lose data, and nothing that users said."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from redis.asyncio import Redis
from temporalio.client import Client, WorkflowFailureError

from durable_memory.dev import Valkey, start_temporal
from tests.integration.worker.calling import calling
from tests.integration.worker.conftest import StartWorker


@pytest.fixture
async def careless(own_valkey: Valkey) -> Valkey:
    """A Redis that may lose what it has acknowledged."""
    async with Redis.from_url(own_valkey.url) as redis:
        await redis.config_set("maxmemory-policy", "allkeys-lru")
        await redis.config_set("appendonly", "no")
    return own_valkey


async def test_settings_of_redis_that_lose_data_are_warned_of(start_worker: StartWorker, careless: Valkey) -> None:
    async with start_worker(REDIS_URL=careless.url) as worker:
        await worker.ready()
        warnings = [entry["message"] for entry in worker.entries() if entry["level"] == "warning"]
        assert any("allkeys-lru" in warning for warning in warnings)
        assert any("append-only" in warning for warning in warnings)


async def test_an_audit_that_other_processes_cannot_be_compared_with_is_warned_of(
    start_worker: StartWorker, folder: Path
) -> None:
    audit = {"DURABLE_MEMORY_AUDIT_LOG": str(folder / "audit.jsonl")}
    async with start_worker(**audit) as worker:
        warning = await worker.entry(level="warning")
        assert warning["message"].startswith("DURABLE_MEMORY_TELEMETRY_KEY is not set")
    (folder / "secret").write_text("the secret of the project\n")
    async with start_worker(**audit, DURABLE_MEMORY_TELEMETRY_KEY_FILE=str(folder / "secret")) as worker:
        await worker.ready()
        assert [entry for entry in worker.entries() if entry["level"] == "warning"] == []


async def test_a_redis_that_keeps_everything_gives_no_warning(start_worker: StartWorker) -> None:
    async with start_worker() as worker:
        await worker.ready()
        assert [entry for entry in worker.entries() if entry["level"] != "info"] == []


async def test_no_content_and_no_key_is_logged_not_even_at_debug(
    start_worker: StartWorker, temporal_client: Client, project: str
) -> None:
    async with (
        start_worker("--log-level", "debug") as worker,
        calling(temporal_client, project) as caller,
    ):
        await worker.ready()
        await caller.append("thread", "key-of-marley", *["What marley said"] * 120)
        with pytest.raises(WorkflowFailureError):
            await caller.append("thread", "key-of-marley", "marley " * 700)
        with pytest.raises(WorkflowFailureError):
            await caller.call("memory.append", {"memory": {"resource": "marley"}, "messages": ["marley"]})
        refused = await worker.entry(error="MemoryOversize")
        assert refused["activity_type"] == "memory.append"
        assert "500" in refused["error_message"]
        assert await worker.end(signal.SIGTERM) == 0
        assert "marley" not in worker.log_text().lower()


async def test_the_level_of_the_log_can_be_chosen(start_worker: StartWorker, careless: Valkey) -> None:
    async with start_worker("--log-level", "warning", REDIS_URL=careless.url) as worker:
        await worker.entry(level="warning")
        assert await worker.end(signal.SIGTERM) == 0
        assert {entry["level"] for entry in worker.entries()} == {"warning"}


async def test_folders_and_project_of_the_command_line_win(
    start_worker: StartWorker, folder: Path, temporal_client: Client, project: str
) -> None:
    (folder / "others").mkdir()
    (folder / "others" / "a.yaml").write_text("resource: memory\nid: other\nmax_tokens: 500\n")
    given = {"DURABLE_MEMORY_MEMORIES": "none", "DURABLE_MEMORY_PROJECT": "wrong", "DURABLE_MEMORY_TASK_QUEUE": project}
    options = ("--memories", "memories", "--memories", "others", "--project", project)
    async with start_worker(*options, **given) as worker, calling(temporal_client, project) as caller:
        await worker.ready()
        assert (await caller.append("other", "k", "Hello"))["messages"] == 1
        assert (await caller.append("thread", "k", "Hello"))["messages"] == 1


async def test_why_temporal_cannot_be_reached_is_logged_by_its_kind(
    start_worker: StartWorker, tmp_path_factory: pytest.TempPathFactory
) -> None:
    temporal = await start_temporal(tmp_path_factory.mktemp("own-temporal"), ui=False, keep=False)
    async with start_worker(TEMPORAL_ADDRESS=temporal.address) as worker:
        await worker.ready()
        temporal.server.kill()
        entry = await worker.entry(temporal_error="Unavailable ConnectionRefused")
        assert entry["level"] == "warning"


async def test_a_worker_keeps_the_audit_in_its_file_below_the_level_of_its_log(
    start_worker: StartWorker, folder: Path, temporal_client: Client, project: str
) -> None:
    given = {"DURABLE_MEMORY_AUDIT_LOG": "audit.jsonl"}
    async with (
        start_worker("--log-level", "warning", **given) as worker,
        calling(temporal_client, project) as caller,
    ):
        await caller.append("notes", "k", "Hello")
        await caller.call("memory.clear", {"memory": {"resource": "notes", "key": "k"}, "confirm": True})
        [record] = [json.loads(line) for line in (folder / "audit.jsonl").read_text().splitlines()]
        assert (record["operation"], record["outcome"], record["removed"]) == ("clear", "applied", 1)
        assert await worker.end(signal.SIGTERM) == 0
        assert "durable_memory.audit" not in worker.log_text()
