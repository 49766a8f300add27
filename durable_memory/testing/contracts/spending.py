"""Conformance: what resources spend on language models in a day, counted once for all processes."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from durable_memory.memory.stores.port import Backend
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

    async def test_tokens_are_set_aside_up_to_the_limit_and_not_beyond(self, spending: Spending, payer: str) -> None:
        assert await spending.set_aside(payer, "desk", 600, 1_000) is not None
        assert await spending.set_aside(payer, "desk", 401, 1_000) is None
        assert await spending.spent(payer, "desk") == 600
        assert await spending.set_aside(payer, "desk", 400, 1_000) is not None
        assert await spending.spent(payer, "desk") == 1_000

    async def test_what_was_set_aside_too_much_can_be_spent_again(self, spending: Spending, payer: str) -> None:
        day = await spending.set_aside(payer, "desk", 1_000, 1_000)
        assert day is not None
        await spending.put_right(payer, "desk", day, -700)
        assert await spending.spent(payer, "desk") == 300
        assert await spending.set_aside(payer, "desk", 700, 1_000) == day
        await spending.put_right(payer, "desk", day, 50)
        assert await spending.spent(payer, "desk") == 1_050

    async def test_a_day_that_is_over_is_not_put_right(self, spending: Spending, payer: str) -> None:
        day = await spending.set_aside(payer, "desk", 100, 1_000)
        assert day is not None
        await spending.put_right(payer, "desk", day - 1, -100)
        assert await spending.spent(payer, "desk") == 100

    async def test_resources_and_projects_spend_apart(self, spending: Spending, payer: str) -> None:
        await spending.set_aside(payer, "desk", 1_000, 1_000)
        assert await spending.set_aside(payer, "other", 1_000, 1_000) is not None
        assert await spending.set_aside(f"{payer}x", "desk", 1_000, 1_000) is not None

    async def test_requests_at_the_same_time_do_not_set_aside_the_same_tokens(
        self, spending: Spending, payer: str
    ) -> None:
        days = await asyncio.gather(*(spending.set_aside(payer, "desk", 30, 1_000) for _ in range(50)))
        assert len([day for day in days if day is not None]) == 33
        assert await spending.spent(payer, "desk") == 990
