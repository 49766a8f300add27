"""A model service for each test, and a summariser that asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from durable_memory.memory.flushing.llm.summarizer import LlmSummarizer
from tests.integration.llm.asking import make
from tests.integration.llm.endpoint import Endpoint, endpoint


@pytest.fixture
async def service() -> AsyncIterator[Endpoint]:
    """A model service on loopback."""
    async with endpoint() as served:
        yield served


@pytest.fixture
async def summarizer(service: Endpoint) -> AsyncIterator[LlmSummarizer]:
    """A summariser that asks that service."""
    made = make(service)
    yield made
    await made.close()
