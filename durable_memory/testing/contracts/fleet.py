"""Conformance: what the workers of a queue say that they declare."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.fleet_port import Fleet

MINUTE_MS = 60_000
QUEUE = "default/desk"


class FleetContract:
    """The workers of a project's queues."""

    @pytest.fixture
    def fleet(self, backend: Backend) -> Fleet:
        """The fleet under test."""
        return backend.fleet

    @pytest.fixture
    def works(self) -> str:
        """A project that nobody else uses."""
        return f"project-{uuid.uuid4().hex}"

    async def test_workers_with_the_same_declarations_do_not_differ(self, fleet: Fleet, works: str) -> None:
        assert not await fleet.differs(works, QUEUE, "old")
        for worker in ("a", "b"):
            await fleet.tell(works, QUEUE, worker, "old", MINUTE_MS)
            assert not await fleet.differs(works, QUEUE, "old")

    async def test_another_worker_of_the_queue_differs(self, fleet: Fleet, works: str) -> None:
        await fleet.tell(works, QUEUE, "a", "old", MINUTE_MS)
        await fleet.tell(works, QUEUE, "b", "new", MINUTE_MS)
        assert await fleet.differs(works, QUEUE, "old")
        assert await fleet.differs(works, QUEUE, "new")

    async def test_what_a_worker_says_last_is_what_counts(self, fleet: Fleet, works: str) -> None:
        for worker in ("a", "b"):
            await fleet.tell(works, QUEUE, worker, "old", MINUTE_MS)
        await fleet.tell(works, QUEUE, "a", "new", MINUTE_MS)
        assert await fleet.differs(works, QUEUE, "new")
        await fleet.tell(works, QUEUE, "b", "new", MINUTE_MS)
        assert not await fleet.differs(works, QUEUE, "new")

    async def test_a_worker_that_leaves_counts_no_more(self, fleet: Fleet, works: str) -> None:
        await fleet.tell(works, QUEUE, "a", "old", MINUTE_MS)
        await fleet.leave(works, QUEUE, "b")
        assert await fleet.differs(works, QUEUE, "new")
        await fleet.leave(works, QUEUE, "a")
        assert not await fleet.differs(works, QUEUE, "new")

    async def test_queues_and_projects_have_fleets_of_their_own(self, fleet: Fleet, works: str) -> None:
        await fleet.tell(works, QUEUE, "a", "new", MINUTE_MS)
        assert await fleet.differs(works, QUEUE, "old")
        assert not await fleet.differs(works, "default/till", "old")
        assert not await fleet.differs(f"{works}-2", QUEUE, "old")

    async def test_a_worker_that_says_nothing_any_more_is_forgotten(self, fleet: Fleet, works: str) -> None:
        await fleet.tell(works, QUEUE, "a", "old", 20)
        await fleet.tell(works, QUEUE, "b", "new", MINUTE_MS)
        await asyncio.sleep(0.05)
        assert not await fleet.differs(works, QUEUE, "new")
        await fleet.tell(works, QUEUE, "b", "new", MINUTE_MS)
        assert not await fleet.differs(works, QUEUE, "new")
        assert await fleet.differs(works, QUEUE, "old")
