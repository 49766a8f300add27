"""Clients of memories that declare how their tokens are counted, on both kinds of persistence."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from durable_memory import MemoryClient

Connect = Callable[..., Awaitable[MemoryClient]]


@pytest.fixture(params=["redis", "in_memory"])
async def connect(request: pytest.FixtureRequest, redis_url: str, tmp_path: Path) -> AsyncIterator[Connect]:
    """Opens a client of these declarations, in a project of its own. PERSISTENCE stands for the kind of store."""
    async with AsyncExitStack() as stack:

        async def connected(yaml: str, **given: Any) -> MemoryClient:
            folder = tmp_path / uuid.uuid4().hex
            folder.mkdir()
            (folder / "memories.yaml").write_text(yaml.replace("PERSISTENCE", f"{{type: {request.param}}}"))
            project = f"tokens-{uuid.uuid4().hex[:12]}"
            client = await MemoryClient.connect(redis_url, memories=[folder], project=project, **given)
            return await stack.enter_async_context(client)

        yield connected
