"""A project that a janitor sweeps all the time, and one that is swept by hand."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from tests.integration.janitor.flows import CHAINS
from tests.integration.janitor.sweeping import Sweeper, sweeper
from tests.integration.temporal.flows.conversations import CONVERSATIONS
from tests.integration.temporal.flows.endings import ENDINGS
from tests.integration.temporal.rig import running

WORKFLOWS = (*CONVERSATIONS, *ENDINGS, *CHAINS)


@pytest.fixture(scope="module")  # no longer, or it would sweep while tests of other folders stop Redis
async def busy(temporal_address: str, redis_url: str) -> AsyncIterator[Sweeper]:
    """Swept more than once a second while the tests run."""
    async with running(temporal_address, redis_url, workflows=WORKFLOWS) as rig, sweeper(rig, redis_url) as busy:
        sweeping = asyncio.create_task(busy.sweep_often())
        yield busy
        assert not sweeping.done(), sweeping
        sweeping.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sweeping
        assert busy.totals["failed"] == 0


@pytest.fixture
async def by_hand(temporal_address: str, redis_url: str) -> AsyncIterator[Sweeper]:
    """Swept when the test says so."""
    async with running(temporal_address, redis_url, workflows=WORKFLOWS) as rig, sweeper(rig, redis_url) as by_hand:
        yield by_hand
