"""Chooses the units of a summary: a greedy cover of rare words, weighed against the length of the units."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from typing import Final

from durable_memory.memory.flushing.rule_based.alike import Alike
from durable_memory.memory.flushing.rule_based.revisions import Revision, Revisions
from durable_memory.memory.flushing.rule_based.units import Unit
from durable_memory.memory.flushing.rule_based.words import IDENTIFIER, Words, names_in, numbers_in

_BYTES_PER_WORD: Final = 6.0
"""In UTF-8. Tokens fill the room: scripts other than Latin have more of them for a character, as they have bytes."""


_MOST_TOGETHER: Final = 4
"""Units at most that come together: a short correction, what it corrects, and what revises either."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What counts how much; `make bench` prints what each rule is worth.

    number: factor of words with digits, but for a lone digit. repeated: whether such a word that comes again counts
    more (1 + the logarithm of how often). name: factor of capitalised words inside a sentence. tool_share: of the gain
    of what a tool is asked or answers, which is long; what matters of it is said again by those who talk. unit_cost:
    in words, what a unit costs beside its own: a label, and the reader's jump to another place. revisions: whether
    what was said later replaces what it revises. revised: factor of the values that were said anew: what was changed
    once is what people get wrong later. alike: whether of what is said again and again with other numbers the last
    stands for all. often: factor of such a unit.
    """

    number: float = 6.0
    repeated: bool = True
    name: float = 3.0
    tool_share: float = 0.15
    unit_cost: float = 5.0
    revisions: bool = True
    revised: float = 2.0
    alike: bool = True
    often: float = 2.0


class Cover:
    """Offers units, first those whose new words have the most weight for the length of the unit.

    The weight of a word grows with its rarity in these messages (the square of its inverse frequency's logarithm), and
    is higher for numbers and names: they are what is asked for later, and cannot be guessed. A number that comes again
    matters more than one that was said once. The gain of a unit only falls as others are taken (it is submodular), so
    a heap of gains computed earlier is a heap of upper bounds, and few of them are computed anew.

    A unit that a later one revises is offered together with the later one, or not at all. A value in it that holds no
    longer has no weight until `count_the_rest` is called.

    Of units that are alike only the last is offered until then, and its words are as rare as if the others had not been
    said. It counts more than what is said once. Identifiers in which they differ have no weight, unless something else
    has them too.
    """

    def __init__(self, units: Sequence[Unit], rules: Rules = Rules()) -> None:
        self._units = units
        self._rules = rules
        split = Words()
        self._words = [split.of(unit.text) for unit in units]
        frequency = Counter(chain.from_iterable(self._words))
        numbers = numbers_in(frequency)
        names = names_in(unit.text for unit in units)
        self.alike = Alike(units if rules.alike else (), self._words, numbers, frequency)
        offered = Counter(frequency)
        offered.subtract(chain.from_iterable(self._words[position] for position in self.alike.last))
        self._weights = _weights(len(units) - len(self.alike.last), offered, numbers, names, rules)
        self._weights.update((word, 0.0) for word in self.alike.varying if IDENTIFIER.fullmatch(word))
        # Each line names its speaker anyway.
        self._covered = {word for speaker in {unit.speaker for unit in units} for word in split.of(speaker)}
        self._taken: set[int] = set()
        self._put_off: set[int] = set()
        self._too_long: set[int] = set()
        self._needs: dict[int, tuple[int, ...]] = {}
        self._withdrawn: dict[int, str] = {}
        self._heeded: set[int] = set()
        self._revised: set[str] = set()
        self._revisions = Revisions(units, self._words, numbers, names, frequency) if rules.revisions else None
        self._heaps: dict[bool, list[tuple[float, int]]] = {True: [], False: []}
        weight_of = self._weights.__getitem__
        self._worth = [_worth(unit, rules) for unit in units]
        for position in self.alike.others:
            self._worth[position] *= rules.often
        for unit, words, worth in zip(units, self._words, self._worth, strict=True):
            if unit.position not in self.alike.last:
                self._heaps[unit.earlier].append((-sum(map(weight_of, words)) * worth, unit.position))
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
            together = self._together(position)
            bound = -self._gain(together)
            if bound == 0 or position in self._put_off:
                continue
            if not self._too_long.isdisjoint(together[1:]):
                self._put_off.add(position)
            elif bound <= min(map(_best, heaps)) and not self._heed(together):
                return tuple(self._units[one] for one in together)
            else:
                heapq.heappush(heap, (bound, position))

    def take_while(self, fit: Callable[[tuple[Unit, ...]], bool], *, earlier: bool | None) -> list[tuple[Unit, ...]]:
        """Takes what is best as long as it fits, and returns it; what does not fit is offered again."""
        taken: list[tuple[Unit, ...]] = []
        while units := self.next(earlier=earlier):
            if not fit(units):
                self._offer(units[0].position)
                break
            self.take(units)
            taken.append(units)
        return taken

    def take(self, units: Iterable[Unit]) -> None:
        """Counts the words of these units as covered from now on."""
        for unit in units:
            self._taken.add(unit.position)
            self._covered.update(self._words[unit.position])

    def put_off(self, unit: Unit, without: Unit | None = None) -> None:
        """Holds a unit back until `offer_again`, and with it every unit that would bring `without` along."""
        self._put_off.add(unit.position)
        if without is not None:
            self._too_long.add(without.position)

    def offer_again(self) -> None:
        """Lets all that was put off come up once more."""
        again = sorted(self._put_off)
        self._put_off.clear()
        self._too_long.clear()
        for position in again:
            self._offer(position)

    def count_the_rest(self) -> None:
        """Gives withdrawn values weight from now on, and offers all units that are alike, for room that is left.

        Such a unit still comes together with the one that revises it, or with the last of its row. Without this, the
        summary of a conversation that consists of corrections would be one sentence.
        """
        left = (self._withdrawn.keys() | self.alike.last.keys()) - self._taken
        self._withdrawn.clear()
        weight_of = self._weights.__getitem__
        for position in sorted(left):
            if any(map(weight_of, self._words[position])):  # not so for bare identifiers
                self._offer(position)

    def _offer(self, position: int) -> None:
        bound = -self._gain(self._together(position))
        heapq.heappush(self._heaps[self._units[position].earlier], (bound, position))

    def _heed(self, together: Sequence[int]) -> bool:
        """Looks up what units that are about to be taken need. Returns whether that changes their gain."""
        news = False
        for one in together:
            if one in self._heeded:
                continue
            self._heeded.add(one)
            needs = [self.alike.last.get(one)]
            if self._revisions is not None:
                revision = self._revisions.of(one)
                needs += [self._revisions.leans_on(one), None if revision is None else revision.newer]
                if revision is not None:
                    self._withdrawn[one] = revision.withdrawn
                    self._prefer(revision)
            self._needs[one] = tuple(need for need in needs if need is not None)
            news = news or bool(self._needs[one])
        return news

    def _prefer(self, revision: Revision) -> None:
        if revision.value and revision.value not in self._revised:
            self._revised.add(revision.value)
            self._weights[revision.value] *= self._rules.revised
            self._offer(revision.newer)

    def _together(self, position: int) -> list[int]:
        """Returns what has to be taken with a unit, the unit first."""
        together = [position]
        for one in together:
            together += [need for need in self._needs.get(one, ()) if need not in self._taken and need not in together]
            if len(together) >= _MOST_TOGETHER:
                break
        return together[:_MOST_TOGETHER]

    def _gain(self, together: Sequence[int]) -> float:
        """Returns what the first of these units adds with the others."""
        if together[0] in self._taken:
            return 0.0
        new = set[str]()
        for one in together:
            withdrawn = self._withdrawn.get(one, "")
            new.update(self._words[one] if not withdrawn else set(self._words[one]) - {withdrawn})
        # fsum does not depend on the order of the set, which differs from process to process.
        weight = math.fsum(map(self._weights.__getitem__, new - self._covered))
        return weight / sum(1 / self._worth[one] for one in together)


def _best(heap: Sequence[tuple[float, int]]) -> float:
    return heap[0][0] if heap else 0.0


def _worth(unit: Unit, rules: Rules) -> float:
    """Returns what a unit of weight counts in this unit: the longer it is, the less."""
    text = unit.text
    size = len(text if text.isascii() else text.encode("utf-8", "replace"))
    return (rules.tool_share if unit.by_tool else 1.0) / (rules.unit_cost + size / _BYTES_PER_WORD)


def _weights(
    units: int, frequency: Mapping[str, int], numbers: AbstractSet[str], names: Mapping[str, int], rules: Rules
) -> dict[str, float]:
    weights: dict[str, float] = {}
    for word, offered in frequency.items():
        count = offered or 1  # 0: only units have it that are not offered at first
        weight = math.log1p(units / count) ** 2
        if word in numbers and len(word) > 1:
            weight *= rules.number * (1 + math.log(count) * rules.repeated)
        elif word in names:
            weight *= rules.name
        weights[word] = weight
    return weights
