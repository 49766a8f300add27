"""Which of several tool calls with one id a result goes to."""

from __future__ import annotations

from collections.abc import Sequence


def newest_row(positions: Sequence[int]) -> int:
    """Returns the index of the call that takes the next result.

    positions: of the messages of the calls that wait, oldest first; not empty. It is the first of the newest ones that
    stand one directly behind the other: results of such calls come in their order, and a call that stands before them
    may have been given up.
    """
    first = len(positions) - 1
    while first and positions[first] - positions[first - 1] <= 1:
        first -= 1
    return first
