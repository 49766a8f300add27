"""Which tool call waits for its result, and in which group."""

from __future__ import annotations

import bisect
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence


class Calls:
    """The tool calls of one memory. The same id may occur several times: each occurrence waits for a result of its own.

    Calls of a group that left complete are forgotten. Those of a group that left waiting are remembered until every
    operation that was open when it went for good has ended, so that a late result is told from one whose call was
    never seen.
    """

    def __init__(self) -> None:
        self._live: dict[str, list[int]] = defaultdict(list)
        self._left: dict[str, list[int]] = defaultdict(list)
        self._seen: Counter[str] = Counter()
        self._gone: deque[tuple[int, int, tuple[str, ...]]] = deque()

    def waiting_live(self, call: str) -> Sequence[int]:
        """Returns the live groups that wait for a result of this call, oldest first."""
        return self._live.get(call, ())

    def waiting_left(self, call: str) -> Sequence[int]:
        """Returns the groups that waited for it when they left the view, oldest first."""
        return self._left.get(call, ())

    def seen(self, call: str) -> bool:
        """Tells whether this memory knows the call at all."""
        return call in self._seen

    def open(self, group: int, calls: Iterable[str]) -> None:
        """Notes the calls of a new group."""
        for call in calls:
            self._live[call].append(group)
            self._seen[call] += 1

    def answer(self, group: int, call: str) -> None:
        """Notes that a result of this call joined the group, or followed it."""
        waiting = self._live if group in self.waiting_live(call) else self._left
        _discard(waiting, call, group)

    def leave(self, group: int, unanswered: Iterable[str]) -> None:
        """Notes that a group left the view while these calls wait."""
        for call in unanswered:
            _discard(self._live, call, group)
            bisect.insort(self._left[call], group)

    def forget(self, calls: Iterable[str]) -> None:
        """Forgets one occurrence of each of these calls, which have their results."""
        for call in calls:
            self._seen[call] -= 1
            if not self._seen[call]:
                del self._seen[call]

    def forget_after(self, until_ms: int, group: int, calls: tuple[str, ...]) -> None:
        """Notes that nothing of the group is stored any more; `until_ms` never decreases from call to call."""
        if calls:
            self._gone.append((until_ms, group, calls))

    def prune(self, now_ms: int) -> None:
        """Forgets the calls whose time has come."""
        while self._gone and self._gone[0][0] < now_ms:
            _, group, calls = self._gone.popleft()
            for call in calls:
                if group in self.waiting_left(call):
                    _discard(self._left, call, group)
            self.forget(calls)


def _discard(waiting: dict[str, list[int]], call: str, group: int) -> None:
    groups = waiting[call]
    groups.remove(group)
    if not groups:
        del waiting[call]
