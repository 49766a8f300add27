"""Clients of a project of the test's own, on both kinds of persistence."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

import pytest

from durable_memory import Memory, MemoryClient, Registry

OpenClient = Callable[..., Coroutine[Any, Any, MemoryClient]]


def declared(*ids: str, persistence: str, **scopes: str) -> Registry:
    """Resources of these ids; scopes: of some of them."""
    return Registry.from_resources(
        [
            {
                "resource": "memory",
                "id": name,
                "max_tokens": 1000,
                "scope": scopes.get(name, "user"),
                "persistence": {"type": persistence, "ttl": None},
            }
            for name in ids
        ]
    )


async def fill(client: MemoryClient, resource: str, *keys: str) -> None:
    """Writes two messages to the memory of each key."""
    for start in range(0, len(keys), 100):  # all of thousands at once may wait longer than a call does
        several = keys[start : start + 100]
        await asyncio.gather(*(client.memory(resource, key).append(["one", "two"]) for key in several))


async def keys_of(client: MemoryClient, *arguments: str, **options: str) -> list[str]:
    """Lists memories, each as resource and key."""
    return [f"{memory.resource}/{memory.key}" async for memory in client.list_memories(*arguments, **options)]  # type: ignore[arg-type] # scopes as text


@pytest.fixture
def project() -> str:
    return f"inventory-{uuid.uuid4().hex[:12]}"


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture(params=["redis", "in_memory"])
async def client(request: pytest.FixtureRequest, stack: AsyncExitStack, project: str, redis_url: str) -> MemoryClient:
    """A client that knows `desk`, `thread` and `temporary`."""
    registry = declared("thread", "desk", "temporary", persistence=request.param, temporary="session")
    return await stack.enter_async_context(await MemoryClient.connect(redis_url, memories=registry, project=project))


@pytest.fixture
def memory(client: MemoryClient) -> Memory:
    return client.memory("desk", "user:42")
