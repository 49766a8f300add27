"""A workflow through the codec: it works, and its history holds nothing of what was said."""

from __future__ import annotations

import base64
import dataclasses

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.converter import DataConverter

from durable_memory import EncryptionCodec, Memory
from durable_memory.memory.errors import MemoryInvalid, MemoryUndecryptable
from tests.integration.temporal.flows.calls import AppendMany
from tests.integration.temporal.flows.talks import RecordTwice
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import running, unique

OLD = "k1:" + base64.b64encode(b"1" * 32).decode()
NEW = "k2:" + base64.b64encode(b"2" * 32).decode()
MARKER = "marley4711"


def converter(keys: str) -> DataConverter:
    return dataclasses.replace(DataConverter.default, payload_codec=EncryptionCodec(keys))


async def test_payloads_of_older_keys_and_plain_ones_are_still_read() -> None:
    plain = Payload(metadata={"encoding": b"json/plain"}, data=f'"{MARKER}"'.encode())
    (sealed,) = await EncryptionCodec(OLD).encode([plain])
    assert MARKER not in str(sealed)
    assert await EncryptionCodec(f"{NEW} {OLD}").decode([sealed, plain]) == [plain, plain]
    with pytest.raises(MemoryUndecryptable, match=r"encrypted with key 'k1', .*: add it to its payload keys"):
        await EncryptionCodec(NEW).decode([sealed])
    with pytest.raises(
        MemoryUndecryptable, match=r"does not open with key 'k1': .*; give all clients and workers the same"
    ):
        await EncryptionCodec(NEW.replace("k2", "k1")).decode([sealed])


def test_wrong_keys_are_refused_without_repeating_them() -> None:
    with pytest.raises(MemoryInvalid, match="keys: key 1 has 6 bytes") as refused:
        EncryptionCodec("k1:c2VjcmV0")
    assert "c2VjcmV0" not in str(refused.value)


async def test_a_workflow_runs_through_it_and_its_history_says_nothing(temporal_address: str, redis_url: str) -> None:
    async with running(temporal_address, redis_url, data_converter=converter(OLD)) as rig:
        key = unique("key")
        handle = await rig.start(RecordTwice.run, key)
        answers = await handle.result()
        assert [answer["texts"] for answer in answers] == [["Where is it?", "It is in Lyon."]] * 2
        plain = await Client.connect(temporal_address)
        history = (await plain.get_workflow_handle(handle.id).fetch_history()).to_json()
        assert base64.b64encode(b"binary/encrypted").decode() in history
        for word in ("Lyon", "Where is it", key):
            assert not any(form in history for form in (word, base64.b64encode(word.encode()).decode()))
        await rig.run(AppendMany.run, "small", [key], ["A parcel left the depot for Ghent. " * 4] * 12)
        assert await eventually(lambda: summarised(rig.memory("small", key)))  # by the flusher, whose input is sealed


async def test_a_worker_takes_the_keys_of_its_memories_from_the_environment(
    temporal_address: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DURABLE_MEMORY_ENCRYPTION_KEYS", f"{NEW},{OLD}")
    async with running(temporal_address, redis_url) as rig:
        key = unique("key")
        assert (await rig.run(RecordTwice.run, key))[0]["texts"] == ["Where is it?", "It is in Lyon."]
        with pytest.raises(MemoryUndecryptable, match="encrypted with key 'k2'"):
            await rig.memory("chat", key).read()  # by a process without keys


async def test_keys_for_payloads_that_no_codec_takes_are_warned_of(
    temporal_address: str, redis_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("DURABLE_MEMORY_PAYLOAD_KEYS", NEW)
    async with running(temporal_address, redis_url, data_converter=converter(NEW)):
        assert [record.getMessage() for record in caplog.records if "PAYLOAD_KEYS" in record.getMessage()] == []
    async with running(temporal_address, redis_url):
        [warning] = [record for record in caplog.records if "PAYLOAD_KEYS" in record.getMessage()]
    assert (warning.name, warning.levelname) == ("durable_memory.running.early_refusals", "WARNING")
    assert "has no payload codec" in warning.getMessage()
    assert "EncryptionCodec" in warning.getMessage()
    assert NEW not in warning.getMessage()


async def summarised(memory: Memory) -> bool:
    return bool((await memory.read(sections=["long_term"])).messages)
