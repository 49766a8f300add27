"""A memory that requires encryption is served by no process without keys."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest

from durable_memory import MemoryClient, MemoryInvalid, Registry
from durable_memory.memory.privacy.keyring import Keyring
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.memory.stores.sealed import sealed_backend
from tests.integration.privacy.redis_files import Kept

KEYS = "k1:" + base64.b64encode(b"1" * 32).decode()
MARKER = "marley4711"
NOWHERE = "redis://127.0.0.1:1/0"


def declared(name: str = "sealed", **fields: Any) -> Registry:
    return Registry.from_resources([{"resource": "memory", "id": name, "max_tokens": 4000, "scope": "user", **fields}])


REQUIRED = declared(privacy_policy={"require_encryption": True})
OPEN = declared()
REFUSED = (
    "sealed: privacy_policy.require_encryption is true, and this process has no encryption keys; "
    "set DURABLE_MEMORY_ENCRYPTION_KEYS or DURABLE_MEMORY_ENCRYPTION_KEYS_FILE, or pass encryption_keys= "
    "to MemoryClient.connect, which reads no environment"
)
REFUSAL = f"^{re.escape(REFUSED)}$"


async def test_no_client_connects_without_keys_and_redis_is_not_even_asked() -> None:
    with pytest.raises(MemoryInvalid, match=REFUSAL) as refused:
        await MemoryClient.connect(NOWHERE, memories=REQUIRED)
    assert not refused.value.retryable


async def test_the_environment_must_give_the_keys_where_the_environment_is_read(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = "resource: memory\nid: sealed\nmax_tokens: 4000\nprivacy_policy: {require_encryption: true}\n"
    (tmp_path / "sealed.yaml").write_text(text)
    (tmp_path / "keys").write_text(KEYS)
    monkeypatch.setenv("REDIS_URL", kept.url)
    monkeypatch.setenv("DURABLE_MEMORY_MEMORIES", str(tmp_path))
    with pytest.raises(MemoryInvalid, match=REFUSAL):
        await MemoryClient.from_environment()
    monkeypatch.setenv("DURABLE_MEMORY_ENCRYPTION_KEYS_FILE", str(tmp_path / "keys"))
    async with await MemoryClient.from_environment() as client:
        assert (await client.memory("sealed", "k").append("Hello")).messages == 1


async def test_with_keys_nothing_of_it_is_plain_text_in_redis(kept: Kept, key: str) -> None:
    async with await MemoryClient.connect(kept.url, memories=REQUIRED, encryption_keys=KEYS) as client:
        memory = client.memory("sealed", key)
        await memory.append(f"I am {MARKER}")
        assert [message.text for message in (await memory.read()).messages] == [f"I am {MARKER}"]
    everything = await kept.all()
    assert "enc:1:k1:" in everything
    assert MARKER not in everything


async def test_a_memory_that_keeps_nothing_at_rest_needs_no_keys() -> None:
    local = declared(privacy_policy={"require_encryption": True}, persistence={"type": "in_memory"})
    async with await MemoryClient.connect(memories=local) as client:
        assert (await client.memory("sealed", "k").append("Hello")).messages == 1


async def test_a_client_over_stores_of_ones_own_needs_one_that_encrypts(kept: Kept) -> None:
    backend = await connect_redis(kept.url, prefix="own:")
    with pytest.raises(MemoryInvalid, match=REFUSAL):
        MemoryClient(REQUIRED, {"redis": backend})
    async with MemoryClient(REQUIRED, {"redis": sealed_backend(backend, Keyring.parse(KEYS))}) as client:
        await client.memory("sealed", "k").append(f"I am {MARKER}")
    assert MARKER not in await kept.all()


async def test_declarations_that_require_it_do_not_come_into_force_without_keys(kept: Kept, key: str) -> None:
    async with await MemoryClient.connect(kept.url, memories=OPEN) as client:
        with pytest.raises(MemoryInvalid, match=REFUSAL):
            client.use(REQUIRED)
        assert client.registry is OPEN
        assert (await client.memory("sealed", key).append("Hello")).messages == 1
    async with await MemoryClient.connect(kept.url, memories=OPEN, encryption_keys=KEYS) as client:
        client.use(REQUIRED)
        assert client.registry is REQUIRED


async def test_what_was_plain_text_before_it_was_required_is_still_read(kept: Kept, key: str) -> None:
    async with await MemoryClient.connect(kept.url, memories=OPEN) as client:
        await client.memory("sealed", key).append("Hello")
    async with await MemoryClient.connect(kept.url, memories=REQUIRED, encryption_keys=KEYS) as client:
        assert [message.text for message in (await client.memory("sealed", key).read()).messages] == ["Hello"]
