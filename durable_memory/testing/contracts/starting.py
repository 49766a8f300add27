"""Conformance: since when the calls of an activity count that began late, the same for all its attempts."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.starts_port import Starts

MINUTE_MS = 60_000


class StartsContract:
    """The late starts of a project."""

    @pytest.fixture
    def starts(self, backend: Backend) -> Starts:
        """The late starts under test."""
        return backend.starts

    @pytest.fixture
    def works(self) -> str:
        """A project that nobody else uses."""
        return f"project-{uuid.uuid4().hex}"

    async def test_the_time_that_is_proposed_first_stands_for_all(self, starts: Starts, works: str) -> None:
        assert await starts.first(works, "run/5", 1_000, MINUTE_MS) == 1_000
        assert await starts.first(works, "run/5", 999, MINUTE_MS) == 1_000
        assert await starts.first(works, "run/5", 1_000, MINUTE_MS) == 1_000

    async def test_proposals_at_the_same_time_agree(self, starts: Starts, works: str) -> None:
        answers = await asyncio.gather(*(starts.first(works, "run/5", number, MINUTE_MS) for number in range(20)))
        assert len(set(answers)) == 1

    async def test_activities_and_projects_have_times_of_their_own(self, starts: Starts, works: str) -> None:
        assert await starts.first(works, "run/5", 1_000, MINUTE_MS) == 1_000
        assert await starts.first(works, "run/6", 2_000, MINUTE_MS) == 2_000
        assert await starts.first(f"{works}-2", "run/5", 3_000, MINUTE_MS) == 3_000

    async def test_a_time_is_kept_as_long_as_asked_and_then_forgotten(self, starts: Starts, works: str) -> None:
        assert await starts.first(works, "run/5", 1_000, 20) == 1_000
        assert await starts.first(works, "run/6", 1_000, MINUTE_MS) == 1_000
        await asyncio.sleep(0.05)
        assert await starts.first(works, "run/5", 2_000, MINUTE_MS) == 2_000
        assert await starts.first(works, "run/6", 2_000, MINUTE_MS) == 1_000
