"""Which groups go next, as plain values."""

from __future__ import annotations

from durable_memory.memory.eviction.order import Excess, Rank, Standing, blocked_by, kept_ends, select_for_flush, take


def group(
    number: int, tokens: int = 10, *, score: int | None = None, waits: bool = False, pin: bool = False
) -> Standing:
    return Standing(Rank(waits, number if score is None else score, number), tokens, 1, pin)


def flushed(
    *conversation: Standing, tokens: int = 0, force: bool = False, keep_first: int = 0, keep_last: int = 0
) -> list[int]:
    kept = kept_ends(conversation, keep_first=keep_first, keep_last=keep_last)
    taken = select_for_flush(conversation, excess=Excess(tokens, 0), force=force, kept=kept)
    return [standing.rank.group for standing in taken]


def test_the_smallest_rank_goes_first_and_equal_scores_go_by_age() -> None:
    ranks = [Rank(open=False, score=7, group=2), Rank(open=False, score=7, group=1), Rank(open=False, score=3, group=9)]
    assert sorted(ranks) == [ranks[2], ranks[1], ranks[0]]


def test_open_groups_go_last_whatever_their_score() -> None:
    assert min(Rank(open=True, score=0, group=1), Rank(open=False, score=99, group=2)).group == 2


def test_no_limit_is_never_exceeded() -> None:
    assert not Excess.over(10**9, 10**9, None, None)


def test_what_fills_a_limit_exactly_does_not_exceed_it() -> None:
    assert not Excess.over(10, 3, 10, 3)
    assert Excess.over(11, 3, 10, 3)
    assert Excess.over(10, 4, 10, 3)


def test_no_more_goes_than_must() -> None:
    queue = [group(1), group(2), group(3)]
    assert take(queue, Excess(0, 0)) == []
    assert take(queue, Excess(1, 0)) == queue[:1]
    assert take(queue, Excess(11, 0)) == queue[:2]
    assert take(queue, Excess(0, 3)) == queue


def test_everything_goes_if_even_that_is_not_enough() -> None:
    assert take([group(1), group(2)], Excess(100, 0)) == [group(1), group(2)]


def test_a_flush_takes_in_the_order_of_scores() -> None:
    assert flushed(group(1, score=5), group(2, score=4), group(3, score=6), tokens=20) == [2, 1]


def test_a_flush_never_takes_pinned_groups() -> None:
    assert flushed(group(1, pin=True), group(2), tokens=100) == [2]
    assert flushed(group(1, pin=True), group(2), force=True) == [2]


def test_a_flush_keeps_both_ends_counted_in_groups() -> None:
    conversation = [group(number) for number in range(1, 7)]
    assert flushed(*conversation, force=True, keep_first=1, keep_last=2) == [2, 3, 4]


def test_ends_that_overlap_keep_everything() -> None:
    assert flushed(group(1), group(2), group(3), force=True, keep_first=2, keep_last=2) == []


def test_the_kept_ends_are_those_of_the_conversation_not_of_the_scores() -> None:
    assert flushed(group(1, score=9), group(2, score=1), group(3, score=5), force=True, keep_last=1) == [2, 1]


def test_a_flush_takes_an_open_group_only_if_nothing_else_reaches_the_target() -> None:
    conversation = [group(1, waits=True), group(2), group(3)]
    assert flushed(*conversation, tokens=20) == [2, 3]
    assert flushed(*conversation, tokens=21) == [2, 3, 1]


def test_a_forced_flush_leaves_open_groups() -> None:
    assert flushed(group(1, waits=True), group(2), force=True) == [2]


def blocked(*conversation: Standing, wanted: bool = True, system: bool = False, keep_last: int = 0) -> str:
    kept = kept_ends(conversation, keep_first=0, keep_last=keep_last)
    return blocked_by(conversation, wanted=wanted, system=system, kept=kept)


def test_what_blocks_is_named() -> None:
    assert blocked(group(1), keep_last=1) == "keep"
    assert blocked(group(1, pin=True)) == "pinned"
    assert blocked(system=True) == "pinned"
    assert blocked(group(1), wanted=False, keep_last=1) == "below_threshold"


def test_a_kept_pinned_group_is_blocked_by_its_pin() -> None:
    assert blocked(group(1, pin=True), keep_last=1) == "pinned"
