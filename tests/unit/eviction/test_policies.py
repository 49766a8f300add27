"""What each policy promises, by the order in which groups go after a history of appends and accesses."""

from __future__ import annotations

from typing import get_args

import pytest

from durable_memory.memory.eviction.policies import (
    HALF_LIFE_MS,
    MOST_STEPS,
    POLICIES,
    SCORES_OF,
    STEP,
    TICKS_PER_MS,
    Policy,
    next_moment,
)
from durable_memory.memory.limits import PolicyName
from durable_memory.memory.stores.values import NORMAL

BANDS = {"l": 0, "h": 2, "c": 3}
"""Priorities of the groups that are named after them; all others have the usual one."""


def order_after(policy: Policy, *history: str, tokens: dict[str, int] | None = None) -> str:
    """Plays a history and returns the groups, the next to go first.

    `+a` appends group a, and again a result to it; `a` accesses it. tokens: the order is that of a flush.
    """
    scores: dict[str, int] = {}
    numbers: dict[str, int] = {}
    moment = 0
    for step in history:
        moment += 1
        group = step.lstrip("+")
        if not step.startswith("+"):
            scores[group] = policy.score_at_access(scores[group], moment)
        elif group in scores:
            scores[group] = policy.score_at_join(scores[group], moment)
        else:
            numbers[group] = moment
            scores[group] = policy.score_at_append(moment, moment, BANDS.get(group[0], NORMAL))
    if tokens:
        scores = {group: policy.score_at_flush(score, moment + 1, tokens[group]) for group, score in scores.items()}
    return "".join(sorted(scores, key=lambda group: (scores[group], numbers[group])))


def test_every_name_of_a_policy_has_one() -> None:
    assert set(POLICIES) == set(SCORES_OF) == set(get_args(PolicyName))


@pytest.mark.parametrize("name", get_args(PolicyName))
def test_without_accesses_every_policy_lets_the_oldest_go_first(name: PolicyName) -> None:
    assert order_after(POLICIES[name], "+a", "+b", "+d") == "abd"


@pytest.mark.parametrize("name", get_args(PolicyName))
def test_a_policy_that_says_that_it_ignores_accesses_does(name: PolicyName) -> None:
    policy = POLICIES[name]
    assert (order_after(policy, "+a", "+b", "+d", "a") != "abd") == policy.uses_accesses


@pytest.mark.parametrize("name", get_args(PolicyName))
def test_a_sorted_set_keeps_every_score_exactly(name: PolicyName) -> None:
    policy, moment, group = POLICIES[name], next_moment(0, 4_000_000_000_000), 2**33 - 1
    score = policy.score_at_append(group, moment, 3)
    assert float(score) == score != float(score + 1)
    many = score
    for _ in range(1000):
        many = policy.score_at_access(many, moment)
    assert float(many) == many != float(many + 1)


@pytest.mark.parametrize("name", ["fifo", "lru", "lfu", "priority"])
def test_a_flush_takes_in_the_order_of_evictions(name: PolicyName) -> None:
    assert order_after(POLICIES[name], "+a", "+b", "a", tokens={"a": 1, "b": 900}) == order_after(
        POLICIES[name], "+a", "+b", "a"
    )


def test_fifo_ignores_results_that_join_a_group() -> None:
    assert order_after(POLICIES["fifo"], "+a", "+b", "+a") == "ab"


@pytest.mark.parametrize("name", ["lru", "token_aware_lru"])
def test_lru_lets_the_one_go_whose_last_access_is_longest_ago(name: PolicyName) -> None:
    assert order_after(POLICIES[name], "+a", "+b", "+c", "a") == "bca"
    assert order_after(POLICIES[name], "+a", "+b", "+c", "c", "b", "a") == "cba"


def test_lru_counts_only_the_last_of_many_accesses() -> None:
    assert order_after(POLICIES["lru"], "+a", "a", "a", "a", "+b", "b") == "ab"


def test_lru_takes_a_result_that_joins_a_group_for_a_use_of_it() -> None:
    assert order_after(POLICIES["lru"], "+a", "+b", "+a") == "ba"


def test_token_aware_lru_takes_at_a_flush_what_is_large_times_long_unused() -> None:
    policy = POLICIES["token_aware_lru"]
    assert order_after(policy, "+a", "+b", "+d", tokens={"a": 10, "b": 40, "d": 10}) == "bad"
    assert order_after(policy, "+a", "+b", "+d", "b", tokens={"a": 10, "b": 39, "d": 10}) == "abd"
    assert order_after(policy, "+a", "+b", "+d", "b", tokens={"a": 10, "b": 41, "d": 10}) == "bad"


def test_lfu_lets_the_one_with_the_fewest_accesses_go_and_the_oldest_of_equals() -> None:
    assert order_after(POLICIES["lfu"], "+a", "+b", "+c", "+d", "a", "a", "b", "d") == "cbda"


def test_lfu_takes_a_result_that_joins_a_group_for_no_access() -> None:
    assert order_after(POLICIES["lfu"], "+a", "+b", "+a") == "ab"


DAY = HALF_LIFE_MS * TICKS_PER_MS
NOW = next_moment(0, 1_800_000_000_000)


def lfu_score(group: int, *moments: int) -> int:
    """Returns the score of a group that was appended at the first of these moments and accessed at the others."""
    score = POLICIES["lfu"].score_at_append(group, moments[0], NORMAL)
    for moment in moments[1:]:
        score = POLICIES["lfu"].score_at_access(score, moment)
    return score


def test_lfu_forgets_half_of_the_accesses_in_a_day() -> None:
    for days in range(1, 6):
        often_long_ago = lfu_score(1, *(NOW for _ in range(2**days)))
        once_now = lfu_score(2, NOW + days * DAY)
        assert abs(often_long_ago // STEP - once_now // STEP) <= 1


def test_lfu_lets_go_what_was_read_often_long_ago_before_what_is_read_now_and_then() -> None:
    often_long_ago = lfu_score(1, *(NOW for _ in range(500)))
    now_and_then = lfu_score(2, *(NOW + days * DAY for days in range(20)))
    assert often_long_ago > lfu_score(2, NOW, NOW)
    assert often_long_ago < now_and_then


def test_lfu_sees_every_access_up_to_its_most() -> None:
    scores = [lfu_score(7, *(NOW for _ in range(count))) for count in range(1, 700)]
    assert scores == sorted(scores)
    assert len(set(scores)) > 500
    assert scores[-1] == scores[-2] == lfu_score(7, NOW) + MOST_STEPS * STEP


@pytest.mark.parametrize("days", [1, 20, 1_023, 1_025, 100_000])
def test_lfu_takes_an_access_to_what_is_any_time_ahead(days: int) -> None:
    ahead = lfu_score(7, NOW + days * DAY)
    assert POLICIES["lfu"].score_at_access(ahead, NOW) <= lfu_score(7, NOW) + MOST_STEPS * STEP
    assert POLICIES["lfu"].score_at_access(ahead, NOW) > lfu_score(7, NOW)


def test_what_lfu_counted_before_it_counted_by_time_is_long_ago() -> None:
    counted = 1000 * 2**33 + 7
    assert counted < lfu_score(8, NOW)
    assert POLICIES["lfu"].score_at_access(counted, NOW) == lfu_score(7, NOW)


def test_priority_lets_the_lowest_go_first_and_the_oldest_of_equals() -> None:
    assert order_after(POLICIES["priority"], "+c", "+h", "+a", "+l", "+b", "+l2", "l") == "ll2abhc"


def test_priority_is_that_of_the_message_that_opened_the_group() -> None:
    assert order_after(POLICIES["priority"], "+l", "+a", "+l") == "la"


def test_moments_grow_and_follow_the_clock() -> None:
    assert next_moment(5, 0) == 6
    assert next_moment(5, 10) == 10 * 1024
    assert next_moment(next_moment(0, 10), 9) == 10 * 1024 + 1
