"""Memories as users have them: declared in YAML, opened by a client, on both kinds of persistence."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from durable_memory import MemoryClient
from durable_memory.dev import start_valkey
from durable_memory.memory.memory import Memory

DECLARATIONS = """
resource: memory
id: chat
max_tokens: 4000
scope: user
persistence: {type: PERSISTENCE}
default_key_template: "user:{{ input.user_id }}"
---
resource: memory
id: small
max_tokens: 400
scope: user
persistence: {type: PERSISTENCE}
flushing: {summarize_threshold: 0.8, target_ratio: 0.4, summary_tokens: 80, keep_last: 1}
---
resource: memory
id: recent
max_tokens: 400
scope: user
persistence: {type: PERSISTENCE}
eviction_policy: {type: lru}
flushing: {type: drop, keep_last: 0}
---
resource: memory
id: few
type: message_count_based
max_messages: 6
scope: user
persistence: {type: PERSISTENCE}
flushing: {type: drop, keep_last: 0}
---
resource: memory
id: brief
max_tokens: 4000
scope: user
persistence: {type: PERSISTENCE, ttl: 3s}
---
resource: memory
id: visited
max_tokens: 4000
scope: user
persistence: {type: PERSISTENCE, ttl: 3s, refresh_on_read: true}
---
resource: memory
id: trip
max_tokens: 1000
scope: user
persistence: {type: PERSISTENCE}
token_allocation:
  short_term: 0.5
  long_term: 0.2
  system: 0.1
  user_defined: {bookings: 0.15, notes: 0.05}
flushing: {summary_tokens: 80, keep_last: 1}
---
resource: memory
id: archive
max_tokens: 2000000
scope: user
persistence: {type: PERSISTENCE}
"""

OpenMemory = Callable[..., Memory]


def write_declarations(folder: Path, persistence: str = "redis") -> Path:
    """Writes the declarations of these tests into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "declared.yaml").write_text(DECLARATIONS.replace("PERSISTENCE", persistence))
    return folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Declarations of memories in Redis."""
    return write_declarations(tmp_path_factory.mktemp("cases") / "redis")


@pytest.fixture(scope="session")
async def in_redis(redis_url: str, folder: Path) -> AsyncIterator[MemoryClient]:
    """A client of memories in Redis."""
    async with await MemoryClient.connect(redis_url, memories=[folder], project=unique("cases")) as client:
        yield client


@pytest.fixture(scope="session")
async def in_process(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MemoryClient]:
    """A client of memories in this process."""
    folder = write_declarations(tmp_path_factory.mktemp("cases") / "in_memory", "in_memory")
    async with await MemoryClient.connect(memories=[folder]) as client:
        yield client


@pytest.fixture(params=["redis", "in_memory"])
def client(in_redis: MemoryClient, in_process: MemoryClient, request: pytest.FixtureRequest) -> MemoryClient:
    """Each kind of persistence."""
    return {"redis": in_redis, "in_memory": in_process}[request.param]


@pytest.fixture
def open_memory(client: MemoryClient) -> OpenMemory:
    """Opens a memory that no other test has."""

    def open_it(resource: str = "chat", key: str | None = None) -> Memory:
        return client.memory(resource, key or unique("key"))

    return open_it


@pytest.fixture
async def own_redis(server_folder: Path) -> AsyncIterator[str]:
    """A server that nobody else talks to, so that its counters count one client."""
    valkey = await start_valkey(server_folder / unique("valkey"), fsync="everysec")
    yield valkey.url
    valkey.server.kill()


def unique(word: str) -> str:
    """Returns a name that no other test has."""
    return f"{word}-{uuid.uuid4().hex[:12]}"
