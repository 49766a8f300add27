"""The queue stands in order at any time, however groups came, moved and went."""

from __future__ import annotations

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from durable_memory.memory.eviction.order import Rank
from durable_memory.memory.eviction.queue import EvictionQueue

RANKS = st.builds(Rank, st.booleans(), st.integers(0, 5), st.integers(1, 6))


@given(st.lists(st.one_of(RANKS, st.integers(1, 6)), max_size=300))
def test_the_queue_is_the_sorted_list_of_what_was_placed_last(steps: list[Rank | int]) -> None:
    queue, expected = EvictionQueue(), dict[int, Rank]()
    for step in steps:
        if isinstance(step, Rank):
            queue.place(step)
            expected[step.group] = step
        else:
            queue.remove(step)
            expected.pop(step, None)
        assert list(queue) == sorted(expected.values())


def test_looking_changes_nothing() -> None:
    queue = EvictionQueue()
    for group in (3, 1, 2):
        queue.place(Rank(open=False, score=group, group=group))
    assert [rank.group for rank in islice(queue, 2)] == [1, 2]
    assert [rank.group for rank in queue] == [1, 2, 3]


def test_a_queue_in_which_everything_keeps_moving_stays_in_order() -> None:
    queue = EvictionQueue()
    queue.place(Rank(open=True, score=0, group=0))
    for score in range(1000):
        queue.place(Rank(open=False, score=score, group=1 + score % 3))
    assert [rank.group for rank in queue] == [2, 3, 1, 0]
    queue.remove(2)
    assert [rank.group for rank in queue] == [3, 1, 0]
