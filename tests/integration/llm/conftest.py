"""A model service for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.integration.llm.endpoint import Endpoint, endpoint


@pytest.fixture
async def service() -> AsyncIterator[Endpoint]:
    """A model service on loopback."""
    async with endpoint() as served:
        yield served
