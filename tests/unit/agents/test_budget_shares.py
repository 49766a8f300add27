"""A budget is divided so that nobody gets more than it needs, all together get no more than there is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_memory.memory.agents.budget_shares import divide, weights_of

PARTS = st.lists(st.tuples(st.integers(0, 5000), st.integers(1, 5000)), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("budget", "demands", "shares", "allotted"),
    [
        (100, [10, 20], [None, None], [10, 20]),  # it fits
        (100, [200, 200], [None, None], [50, 50]),
        (100, [10, 200], [None, None], [10, 90]),  # what one does not need goes to the other
        (200, [60, 200], [60, None], [60, 140]),  # a share holds, the rest is what it leaves
        (300, [60, 200, 200], [60, None, None], [60, 120, 120]),
        (100, [300, 100], [300, 100], [75, 25]),  # a budget below the shares shrinks them alike
        (100, [300, 300], [150, None], [50, 50]),  # who has no share does not starve
        (0, [5, 5], [None, None], [0, 0]),
    ],
)
def test_a_budget_is_divided_by_shares(
    budget: int, demands: list[int], shares: list[int | None], allotted: list[int]
) -> None:
    assert divide(budget, demands, weights_of(shares, budget)) == allotted


@given(st.integers(0, 10_000), PARTS)
def test_nobody_gets_too_much_and_nothing_is_wasted(budget: int, parts: list[tuple[int, int]]) -> None:
    demands, weights = [demand for demand, _ in parts], [weight for _, weight in parts]
    allotted = divide(budget, demands, weights)
    assert all(0 <= got <= demand for got, demand in zip(allotted, demands, strict=True))
    assert min(budget, sum(demands)) - len(parts) < sum(allotted) <= budget
