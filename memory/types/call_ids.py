"""Ids of tool calls in a request: no two the same, or as they were given."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable


class CallIds:
    """The ids of one request. Ours may repeat; a result goes to the oldest call that waits.

    accepted: makes an id one that the API takes. Two may become one, and are numbered then.
    """

    def __init__(self, accepted: Callable[[str], str]) -> None:
        self._accepted = accepted
        self._given: set[str] = set()
        self._last_number: defaultdict[str, int] = defaultdict(lambda: 1)
        """The last one tried for each of our ids: the next call of that id need not try all again."""
        self._waiting: defaultdict[str, deque[str]] = defaultdict(deque)

    def of_call(self, call_id: str) -> str:
        """Returns the id of a new call."""
        given = self._accepted(call_id)
        while given in self._given:
            self._last_number[call_id] += 1
            given = self._accepted(f"{call_id}_{self._last_number[call_id]}")
        self._given.add(given)
        self._waiting[call_id].append(given)
        return given

    def of_result(self, call_id: str) -> str:
        """Returns the id of the call that a result answers."""
        waiting = self._waiting[call_id]
        return waiting.popleft() if waiting else self._accepted(call_id)


class OwnIds:
    """The ids that calls have, in the form that the API takes. They may repeat."""

    def __init__(self, accepted: Callable[[str], str]) -> None:
        self.of_call = accepted
        self.of_result = accepted
