"""A worker with payload keys reads what callers with the same keys encrypt, and its flusher's history says nothing."""

from __future__ import annotations

import base64
import dataclasses
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.converter import DataConverter

from durable_memory import EncryptionCodec, MemoryClient, TemporalWaker
from durable_memory.activities.waker import flusher_id
from durable_memory.logs import cannot_decode
from durable_memory.memory.identity import MemoryId
from tests.integration.worker.calling import calling
from tests.integration.worker.conftest import StartWorker
from tests.integration.worker.workers import eventually

KEYS = "k1:" + base64.b64encode(b"1" * 32).decode()
OTHERS = "k2:" + base64.b64encode(b"2" * 32).decode()
KEY = "marley4711"
LACKING = (
    "a payload is encrypted with key 'k1', which this process does not have: add it to its payload keys "
    "(DURABLE_MEMORY_PAYLOAD_KEYS)"
)


async def test_what_temporal_keeps_is_encrypted(
    start_worker: StartWorker, folder: Path, project: str, redis_url: str, temporal_address: str
) -> None:
    converter = dataclasses.replace(DataConverter.default, payload_codec=EncryptionCodec(KEYS))
    client = await Client.connect(temporal_address, data_converter=converter)
    async with (
        start_worker(DURABLE_MEMORY_PAYLOAD_KEYS=KEYS),
        calling(client, project) as caller,
        await MemoryClient.connect(redis_url, memories=[folder / "memories"], project=project) as memories,
    ):
        await caller.append("thread", KEY, *["Parcel 17 left the depot for Ghent. " * 20] * 8)
        memory = memories.memory("thread", KEY)

        async def summarised() -> bool:
            return (await memory.stats()).messages["long_term"] == 1

        await eventually(summarised)

    plain = await Client.connect(temporal_address)
    flusher = plain.get_workflow_handle(flusher_id(MemoryId(project, "thread", KEY)))
    history = (await flusher.fetch_history()).to_json()
    assert base64.b64encode(b"binary/encrypted").decode() in history
    assert not any(form in history for form in (KEY, base64.b64encode(KEY.encode()).decode()[:-4]))


@pytest.mark.parametrize(
    ("given", "error", "lacking"),
    [
        ("", "RuntimeError", cannot_decode("binary/encrypted")),
        (OTHERS, "MemoryUndecryptable", LACKING),
    ],
    ids=["none", "others"],
)
async def test_a_worker_without_the_keys_says_what_it_lacks(
    start_worker: StartWorker,
    folder: Path,
    project: str,
    temporal_address: str,
    redis_url: str,
    given: str,
    error: str,
    lacking: str,
) -> None:
    converter = dataclasses.replace(DataConverter.default, payload_codec=EncryptionCodec(KEYS))
    client = await Client.connect(temporal_address, data_converter=converter)
    async with (
        await MemoryClient.connect(
            redis_url,
            memories=[folder / "memories"],
            project=project,
            waker=TemporalWaker(client, project),
        ) as memories,
        start_worker(DURABLE_MEMORY_PAYLOAD_KEYS=given) as worker,
        calling(client, project) as caller,
    ):
        await memories.memory("thread", KEY).append(["Parcel 17 left the depot for Ghent. " * 20] * 8)
        in_workflows = await worker.entry(error=error)
        await caller.start("memory.read", {"memory": {"resource": "thread", "key": KEY}})
        in_activities = await worker.entry(error="ApplicationError")
        assert [entry.get("error_message") for entry in (in_workflows, in_activities)] == [lacking] * 2
        assert KEY not in worker.log_text()
