"""Conformance: what resources spend on language models in a day, counted once for all processes."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.spending_port import Spending


class SpendingContract:
    """The spending of a project."""

    @pytest.fixture
    def spending(self, backend: Backend) -> Spending:
        """The spending under test."""
        return backend.spending

    @pytest.fixture
    def payer(self) -> str:
        """A project that nobody else uses."""
        return f"project-{uuid.uuid4().hex}"

    async def test_tokens_are_reserved_up_to_the_limit_and_not_beyond(self, spending: Spending, payer: str) -> None:
        assert await spending.reserve(payer, "desk", "first", 600, 1_000) is not None
        assert await spending.reserve(payer, "desk", "second", 401, 1_000) is None
        assert await spending.spent(payer, "desk") == 600
        assert await spending.reserve(payer, "desk", "third", 400, 1_000) is not None
        assert await spending.spent(payer, "desk") == 1_000

    async def test_what_was_reserved_too_much_can_be_spent_again(self, spending: Spending, payer: str) -> None:
        day = await spending.reserve(payer, "desk", "first", 1_000, 1_000)
        assert day is not None
        await spending.settle(payer, "desk", "first", 300, day)
        assert await spending.spent(payer, "desk") == 300
        assert await spending.reserve(payer, "desk", "second", 700, 1_000) == day
        await spending.settle(payer, "desk", "second", 750, day)
        assert await spending.spent(payer, "desk") == 1_050

    async def test_a_request_that_is_reserved_again_counts_once(self, spending: Spending, payer: str) -> None:
        day = await spending.reserve(payer, "desk", "first", 600, 1_000)
        assert await spending.reserve(payer, "desk", "first", 600, 1_000) == day
        assert await spending.spent(payer, "desk") == 600

    async def test_a_request_that_is_settled_again_changes_nothing(self, spending: Spending, payer: str) -> None:
        day = await spending.reserve(payer, "desk", "first", 400, 1_000)
        assert day is not None
        await spending.reserve(payer, "desk", "second", 500, 1_000)
        for _ in range(2):
            await spending.settle(payer, "desk", "first", 100, day)
        assert await spending.spent(payer, "desk") == 600

    async def test_a_request_that_was_refused_is_not_settled(self, spending: Spending, payer: str) -> None:
        day = await spending.reserve(payer, "desk", "first", 900, 1_000)
        assert day is not None
        assert await spending.reserve(payer, "desk", "second", 200, 1_000) is None
        await spending.settle(payer, "desk", "second", 50, day)
        assert await spending.spent(payer, "desk") == 900

    async def test_a_day_that_is_over_is_not_settled(self, spending: Spending, payer: str) -> None:
        day = await spending.reserve(payer, "desk", "first", 100, 1_000)
        assert day is not None
        await spending.settle(payer, "desk", "first", 0, day - 1)
        assert await spending.spent(payer, "desk") == 100

    async def test_resources_and_projects_spend_apart(self, spending: Spending, payer: str) -> None:
        await spending.reserve(payer, "desk", "first", 1_000, 1_000)
        assert await spending.reserve(payer, "other", "first", 1_000, 1_000) is not None
        assert await spending.reserve(f"{payer}x", "desk", "first", 1_000, 1_000) is not None

    async def test_requests_at_the_same_time_do_not_reserve_the_same_tokens(
        self, spending: Spending, payer: str
    ) -> None:
        days = await asyncio.gather(*(spending.reserve(payer, "desk", f"{i}", 30, 1_000) for i in range(50)))
        assert len([day for day in days if day is not None]) == 33
        assert await spending.spent(payer, "desk") == 990
