"""A Redis of its own, whose files can be searched, and memories that keep secrets out."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from durable_memory import MemoryClient, Registry
from durable_memory.dev import start_valkey
from durable_memory.memory.flushing.summarizer import SummaryRequest
from tests.integration.privacy.redis_files import Kept

POLICY: dict[str, Any] = {
    "redact_patterns": [r"\bMRN-\d{6}\b"],
    "redact_entities": ["email", "phone", "credit_card", "iban", "us_ssn", "ip_address", "api_key"],
}


def _memory(name: str, **fields: Any) -> dict[str, Any]:
    return {"resource": "memory", "id": name, "max_tokens": 2_000_000, "scope": "user", **fields}


REGISTRY = Registry.from_resources(
    [
        _memory("private", privacy_policy=POLICY),
        _memory("open"),
        _memory("no-tools", privacy_policy={"non_persistable_message_types": ["tool"]}),
        _memory("only-users", privacy_policy={"non_persistable_message_types": ["system", "assistant", "tool"]}),
        _memory(
            "summed-up",
            max_tokens=400,
            flushing={"summarize_threshold": 0.8, "target_ratio": 0.4, "summary_tokens": 120, "keep_last": 1},
            privacy_policy=POLICY,
        ),
    ]
)


async def forget_keys(redis_url: str, project: str) -> None:
    """Lets a process with any keys begin, as one did that began before the others."""
    async with Redis.from_url(redis_url) as raw:
        await raw.delete(f"dm:{{{project}}}:keys")


class Repeats:
    """A summariser that writes down what a model might: more than it was told, or what it knew before."""

    max_input_tokens: int | None = None

    def __init__(self) -> None:
        self.says = ""

    async def summarize(self, request: SummaryRequest) -> str:  # noqa: ARG002 - the port's signature
        """See Summarizer."""
        return self.says


@pytest.fixture
async def kept(server_folder: Path) -> AsyncIterator[Kept]:
    """All that a Redis keeps: its keys, and the log on its disk of every command that it was ever sent."""
    folder = server_folder / f"valkey-{uuid.uuid4().hex[:8]}"
    valkey = await start_valkey(folder, fsync="always")
    async with Redis.from_url(valkey.url) as redis:
        yield Kept(valkey.url, redis, folder)
    valkey.server.kill()


@pytest.fixture
def summarizer() -> Repeats:
    return Repeats()


@pytest.fixture
async def client(kept: Kept, summarizer: Repeats) -> AsyncIterator[MemoryClient]:
    async with await MemoryClient.connect(kept.url, memories=REGISTRY, summarizer=summarizer) as client:
        yield client


@pytest.fixture
def key() -> str:
    return f"key-{uuid.uuid4().hex[:12]}"
