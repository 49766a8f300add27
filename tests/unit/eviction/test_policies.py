"""What each policy promises, by the order in which groups go after a history of appends and accesses."""

from __future__ import annotations

from typing import get_args

import pytest

from durable_memory.memory.eviction.policies import POLICIES, Policy
from durable_memory.memory.limits import PolicyName


def order_after(policy: Policy, *history: str) -> str:
    """Plays a history (`+a` appends group a, `a` accesses it) and returns the groups, the next to go first."""
    scores: dict[str, int] = {}
    numbers: dict[str, int] = {}
    for moment, step in enumerate(history, start=1):
        group = step.lstrip("+")
        numbers.setdefault(group, moment)
        scores[group] = (
            policy.score_at_append(numbers[group], moment)
            if step.startswith("+")
            else policy.score_at_access(scores[group], moment)
        )
    return "".join(sorted(scores, key=lambda group: (scores[group], numbers[group])))


def test_every_name_of_a_policy_has_one() -> None:
    assert set(POLICIES) == set(get_args(PolicyName))


@pytest.mark.parametrize("name", get_args(PolicyName))
def test_without_accesses_every_policy_lets_the_oldest_go_first(name: PolicyName) -> None:
    assert order_after(POLICIES[name], "+a", "+b", "+c") == "abc"


@pytest.mark.parametrize("name", get_args(PolicyName))
def test_a_history_always_gives_the_same_order(name: PolicyName) -> None:
    history = ("+a", "+b", "a", "+c", "b", "+a", "c", "a")
    assert order_after(POLICIES[name], *history) == order_after(POLICIES[name], *history)


def test_fifo_ignores_accesses() -> None:
    assert order_after(POLICIES["fifo"], "+a", "+b", "+c", "a", "b", "a") == "abc"


def test_fifo_ignores_results_that_join_a_group() -> None:
    assert order_after(POLICIES["fifo"], "+a", "+b", "+a") == "ab"


def test_lru_lets_the_one_go_whose_last_access_is_longest_ago() -> None:
    assert order_after(POLICIES["lru"], "+a", "+b", "+c", "a") == "bca"
    assert order_after(POLICIES["lru"], "+a", "+b", "+c", "c", "b", "a") == "cba"


def test_lru_counts_only_the_last_of_many_accesses() -> None:
    assert order_after(POLICIES["lru"], "+a", "a", "a", "a", "+b", "b") == "ab"


def test_lru_takes_a_result_that_joins_a_group_for_a_use_of_it() -> None:
    assert order_after(POLICIES["lru"], "+a", "+b", "+a") == "ba"
