"""The order in which live groups may be evicted, kept while groups come, wait for results, move and go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from durable_memory.memory.eviction.order import Rank
from durable_memory.memory.eviction.queue import EvictionQueue
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.in_memory.values import Group


class EvictionOrder:
    """Ranks groups by their scores. One that waits for a result goes last, until it counts as abandoned."""

    def __init__(self) -> None:
        self._queue = EvictionQueue()
        self._waiting: dict[int, int] = {}
        """When the last message came of each group that waits, and is not known to be abandoned; longest ago first."""

    def place(self, group: Group) -> None:
        """Ranks a group that is new, or that a message has joined; those that wait in the order of these messages."""
        self._waiting.pop(group.number, None)
        if group.waiting:
            self._waiting[group.number] = group.touched_ms
        self._queue.place(Rank(bool(group.waiting), group.score, group.number))

    def rescore(self, group: Group) -> None:
        """Ranks a group anew of which only the score has changed."""
        self._queue.place(Rank(group.number in self._waiting, group.score, group.number))

    def remove(self, group: Group) -> None:
        """Takes a group out, if it is in."""
        self._queue.remove(group.number)
        self._waiting.pop(group.number, None)

    def ranks(self, groups: Mapping[int, Group], limits: Limits, now_ms: int) -> Iterator[Rank]:
        """Yields the ranks, the next group to go first. groups: by number."""
        while self._waiting:
            number, touched_ms = next(iter(self._waiting.items()))
            if now_ms - touched_ms < limits.open_group_ms:
                break
            del self._waiting[number]
            self.rescore(groups[number])
        yield from self._queue
