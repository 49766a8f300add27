"""Ids of tool calls as an API wants them: of its form, and no two the same."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable


class CallIds:
    """The ids of one request. Ours may repeat; a result goes to the oldest call that waits.

    accepted: makes an id one that the API takes, and of two that differ two that differ.
    """

    def __init__(self, accepted: Callable[[str], str]) -> None:
        self._accepted = accepted
        self._given: set[str] = set()
        self._seen: defaultdict[str, int] = defaultdict(lambda: 1)  # of each id of ours, so that many cost no more each
        self._waiting: defaultdict[str, deque[str]] = defaultdict(deque)

    def of_call(self, call_id: str) -> str:
        """Returns the id of a new call."""
        given = self._accepted(call_id)
        while given in self._given:
            self._seen[call_id] += 1
            given = self._accepted(f"{call_id}_{self._seen[call_id]}")
        self._given.add(given)
        self._waiting[call_id].append(given)
        return given

    def of_result(self, call_id: str) -> str:
        """Returns the id of the call that a result answers."""
        waiting = self._waiting[call_id]
        return waiting.popleft() if waiting else self._accepted(call_id)
