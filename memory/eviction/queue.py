"""The queue of groups that may be evicted, kept in order while groups come, move and go."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from durable_memory.memory.eviction.order import Rank

_SLACK = 64
"""Outdated places that are tolerated before the queue is built anew."""


class EvictionQueue:
    """Ranks of groups, smallest first. Placing and removing cost O(log n) amortised, looking at the first k O(k log k).

    A group that moves leaves its old place behind in the heap; such places are skipped, and cleared away when they
    lie on top or outnumber the groups.
    """

    def __init__(self) -> None:
        self._heap: list[Rank] = []
        self._ranks: dict[int, Rank] = {}

    def place(self, rank: Rank) -> None:
        """Puts a group where its rank belongs, wherever it stood before."""
        if self._ranks.get(rank.group) == rank:
            return
        self._ranks[rank.group] = rank
        heapq.heappush(self._heap, rank)
        self._tidy()

    def remove(self, group: int) -> None:
        """Takes a group out, if it is in."""
        if self._ranks.pop(group, None) is not None:
            self._tidy()

    def __iter__(self) -> Iterator[Rank]:
        """Yields the ranks in order without changing the queue."""
        frontier = [(self._heap[0], 0)] if self._heap else []
        last: Rank | None = None
        while frontier:
            rank, index = heapq.heappop(frontier)
            for child in (2 * index + 1, 2 * index + 2):
                if child < len(self._heap):
                    heapq.heappush(frontier, (self._heap[child], child))
            # A group that moved away and back stands twice with the same rank.
            if self._ranks.get(rank.group) == rank and rank != last:
                last = rank
                yield rank

    def _tidy(self) -> None:
        if len(self._heap) > 2 * len(self._ranks) + _SLACK:
            self._heap = sorted(self._ranks.values())
        while self._heap and self._ranks.get(self._heap[0].group) != self._heap[0]:
            heapq.heappop(self._heap)
