"""Which units to take: a greedy cover of rare words, by word of length."""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from durable_memory.memory.flushing.revisions import Revision, Revisions
from durable_memory.memory.flushing.units import Unit
from durable_memory.memory.flushing.words import Words, is_number, names_in

_BYTES_PER_WORD: Final = 6.0
"""In UTF-8. Tokens fill the room: scripts other than Latin have more of them for a character, as they have bytes."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What counts how much; `make bench` prints what each rule is worth.

    number: factor of words with digits, but for a lone digit. repeated: whether such a word that comes again counts
    more (1 + the logarithm of how often). name: factor of capitalised words inside a sentence. tool_share: of the gain
    of what a tool is asked or answers, which is long; what matters of it is said again by those who talk. unit_cost:
    in words, what a unit costs beside its own: a label, and the reader's jump to another place. revisions: whether
    what was said later replaces what it revises. revised: factor of the values that were said anew: what was changed
    once is what people get wrong later.
    """

    number: float = 6.0
    repeated: bool = True
    name: float = 3.0
    tool_share: float = 0.15
    unit_cost: float = 5.0
    revisions: bool = True
    revised: float = 2.0


class Cover:
    """Yields units, the ones first that cover most weight of new words for their length.

    The weight of a word grows with its rarity in these messages (the square of its inverse frequency's logarithm), and
    is higher for numbers and names: they are what is asked for later, and cannot be guessed. A number that comes again
    matters more than one that was said once. The gain of a unit only falls as others are taken (it is submodular), so
    a heap of gains computed earlier is a heap of upper bounds, and few of them are computed anew.

    A unit that a later one revises comes together with that one, or not at all; what it said that holds no longer
    counts nothing.
    """

    def __init__(self, units: Sequence[Unit], rules: Rules = Rules()) -> None:
        self._units = units
        self._rules = rules
        split = Words()
        self._words = [split.of(unit.text) for unit in units]
        frequency = Counter(chain.from_iterable(self._words))
        names = names_in(unit.text for unit in units)
        self._weights = _weights(len(units), frequency, names, rules)
        # Each line names its speaker anyway.
        self._covered = {word for speaker in {unit.speaker for unit in units} for word in split.of(speaker)}
        self._taken: set[int] = set()
        self._needs: defaultdict[int, set[int]] = defaultdict(set)
        self._withdrawn: dict[int, str] = {}
        self._heeded: set[int] = set()
        self._revised: set[str] = set()
        self._revisions = Revisions(units, self._words, names, frequency) if rules.revisions else None
        self._heaps: dict[bool, list[tuple[float, int]]] = {True: [], False: []}
        weight_of = self._weights.__getitem__
        self._worth = [_worth(unit, rules) for unit in units]
        sums = [sum(map(weight_of, words)) * worth for words, worth in zip(self._words, self._worth, strict=True)]
        for unit, gain in zip(units, sums, strict=True):
            self._heaps[unit.earlier].append((-gain, unit.position))
        for heap in self._heaps.values():
            heapq.heapify(heap)

    def next(self, *, earlier: bool | None = None) -> tuple[Unit, ...]:
        """Offers what is best of all that is left, each once; nothing if no unit adds anything.

        More than one unit: the first of them without the others would say what holds no longer, or nothing that can
        be understood. earlier: only what is led by a unit from summaries of earlier flushes, or only others.
        """
        heaps = list(self._heaps.values()) if earlier is None else [self._heaps[earlier]]
        while True:
            heap = min(heaps, key=_best)
            if not heap:
                return ()
            _, position = heapq.heappop(heap)
            bound = -self._gain(position)
            if bound < 0 and bound <= min(map(_best, heaps)) and not self._heed(position):
                return tuple(self._units[one] for one in self._together(position))
            if bound < 0:
                heapq.heappush(heap, (bound, position))

    def take(self, units: Iterable[Unit]) -> None:
        """Counts the words of these units as covered from now on."""
        for unit in units:
            self._taken.add(unit.position)
            self._covered.update(self._words[unit.position])

    def offer_again(self, unit: Unit) -> None:
        """Lets a unit that was not taken come up once more."""
        heapq.heappush(self._heaps[unit.earlier], (-self._gain(unit.position), unit.position))

    def _heed(self, position: int) -> bool:
        """Looks what was revised of a unit that is about to be taken. Returns whether that changes anything."""
        news = False
        for one in self._together(position):
            if self._revisions is None or one in self._heeded:
                continue
            self._heeded.add(one)
            if (older := self._revisions.leans_on(one)) is not None:
                self._needs[one].add(older)
                news = True
            if (revision := self._revisions.of(one)) is not None:
                self._needs[one].add(revision.newer)
                self._withdrawn[one] = revision.withdrawn
                self._prefer(revision)
                news = True
        return news

    def _prefer(self, revision: Revision) -> None:
        if revision.value and revision.value not in self._revised:
            self._revised.add(revision.value)
            self._weights[revision.value] *= self._rules.revised
            self.offer_again(self._units[revision.newer])

    def _together(self, position: int) -> list[int]:
        """Returns what has to be taken with a unit, the unit first."""
        together = [position]
        for one in together:
            together += sorted(self._needs.get(one, set()) - self._taken - set(together))
        return together

    def _gain(self, position: int) -> float:
        if position in self._taken:
            return 0.0
        together = self._together(position)
        new: set[str] = set()
        for one in together:
            new |= set(self._words[one]) - {self._withdrawn.get(one, "")}
        # fsum does not depend on the order of the set, which differs from process to process.
        weight = math.fsum(map(self._weights.__getitem__, new - self._covered))
        return weight / sum(1 / self._worth[one] for one in together)


def _best(heap: Sequence[tuple[float, int]]) -> float:
    return heap[0][0] if heap else 0.0


def _worth(unit: Unit, rules: Rules) -> float:
    """Returns what a unit of weight counts in this unit: the longer it is, the less."""
    size = len(unit.text.encode("utf-8", "replace"))
    return (rules.tool_share if unit.by_tool else 1.0) / (rules.unit_cost + size / _BYTES_PER_WORD)


def _weights(units: int, frequency: Mapping[str, int], names: Mapping[str, int], rules: Rules) -> dict[str, float]:
    weights: dict[str, float] = {}
    for word, count in frequency.items():
        weight = math.log1p(units / count) ** 2
        if len(word) > 1 and is_number(word):
            weight *= rules.number * (1 + math.log(count) * rules.repeated)
        elif word in names:
            weight *= rules.name
        weights[word] = weight
    return weights
