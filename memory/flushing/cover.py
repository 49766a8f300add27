"""Which units to take: a greedy cover of rare words, by word of length."""

from __future__ import annotations

import heapq
import math
import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from durable_memory.memory.flushing.units import Unit

_MARKS: Final = string.punctuation + "\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb\u00bf\u00a1\u2026\u2013\u2014"
"""What is taken off a word's ends. Inside they stay: 2,150 and 10:30 and INV-3391 are one word each."""

# A Latin, Greek or Cyrillic capital after a word and a space. The look back stands second, where it costs nothing for
# all other letters.
_CAPITAL: Final = r"[A-Z\u00c0-\u00de\u0391-\u03a9\u0410-\u042f]"
_NAME: Final = re.compile(rf"{_CAPITAL}(?<=[^\W\d_] {_CAPITAL})[^\W_]+")
_RUN: Final = re.compile(r"[^\W_]+")
# Scripts that put no spaces between words: Thai to Khmer, Chinese, Japanese, Korean.
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]")

_BYTES_PER_WORD: Final = 6.0
"""In UTF-8. Tokens fill the room: scripts other than Latin have more of them for a character, as they have bytes."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What counts how much; `make bench` prints what each rule is worth.

    number: factor of words with digits, but for a lone digit. repeated: whether such a word that comes again counts
    more (1 + the logarithm of how often). name: factor of capitalised words inside a sentence. tool_share: of the gain
    of what a tool is asked or answers, which is long; what matters of it is said again by those who talk. unit_cost:
    in words, what a unit costs beside its own: a label, and the reader's jump to another place.
    """

    number: float = 6.0
    repeated: bool = True
    name: float = 3.0
    tool_share: float = 0.15
    unit_cost: float = 5.0


class Cover:
    """Yields units, the one first that covers most weight of new words for its length.

    The weight of a word grows with its rarity in these messages (the square of its inverse frequency's logarithm), and
    is higher for numbers and names: they are what is asked for later, and cannot be guessed. A number that comes again
    matters more than one that was said once. The gain of a unit only falls as others are taken (it is submodular), so
    a heap of gains computed earlier is a heap of upper bounds, and few of them are computed anew.
    """

    def __init__(self, units: Sequence[Unit], rules: Rules = Rules()) -> None:
        self._units = units
        split = _Words()
        self._words = [split.of(unit.text) for unit in units]
        self._weights = _weights(units, self._words, rules)
        # Each line names its speaker anyway.
        self._covered = {word for speaker in {unit.speaker for unit in units} for word in split.of(speaker)}
        self._heaps: dict[bool, list[tuple[float, int]]] = {True: [], False: []}
        weight_of = self._weights.__getitem__
        self._worth = [_worth(unit, rules) for unit in units]
        for unit, words, worth in zip(units, self._words, self._worth, strict=True):
            self._heaps[unit.earlier].append((-sum(map(weight_of, words)) * worth, unit.position))
        for heap in self._heaps.values():
            heapq.heapify(heap)

    def next(self, *, earlier: bool | None = None) -> Unit | None:
        """Offers the best unit left, each once; None if no unit adds anything.

        earlier: only from summaries of earlier flushes, or only from others.
        """
        heaps = list(self._heaps.values()) if earlier is None else [self._heaps[earlier]]
        while True:
            heap = min(heaps, key=_best)
            if not heap:
                return None
            _, position = heapq.heappop(heap)
            bound = -self._gain(position)
            if bound < 0 and bound <= min(map(_best, heaps)):
                return self._units[position]
            if bound < 0:
                heapq.heappush(heap, (bound, position))

    def take(self, unit: Unit) -> None:
        """Counts the words of a unit as covered from now on."""
        self._covered.update(self._words[unit.position])

    def offer_again(self, unit: Unit) -> None:
        """Lets a unit that was not taken come up once more."""
        heapq.heappush(self._heaps[unit.earlier], (-self._gain(unit.position), unit.position))

    def _gain(self, position: int) -> float:
        new = set(self._words[position]) - self._covered
        # fsum does not depend on the order of the set, which differs from process to process.
        return math.fsum(map(self._weights.__getitem__, new)) * self._worth[position]


def _best(heap: Sequence[tuple[float, int]]) -> float:
    return heap[0][0] if heap else 0.0


def _worth(unit: Unit, rules: Rules) -> float:
    """Returns what a unit of weight counts in this unit: the longer it is, the less."""
    size = len(unit.text.encode("utf-8", "replace"))
    return (rules.tool_share if unit.by_tool else 1.0) / (rules.unit_cost + size / _BYTES_PER_WORD)


class _Words(dict[str, str]):
    """Splits texts into words; remembers the bare form of each, since most words come again."""

    def of(self, text: str) -> list[str]:
        if not text.isascii() and _UNSPACED.search(text):
            words = list(chain.from_iterable(map(_pairs, _RUN.findall(text.casefold()))))
        else:
            words = list(map(self.__getitem__, text.casefold().split()))
        # What has no words (an emoji) is one: each unit says something.
        return words or [text]

    def __missing__(self, written: str) -> str:
        bare = self[written] = written.strip(_MARKS) or written
        return bare


def _pairs(word: str) -> list[str]:
    if not _UNSPACED.search(word):
        return [word]
    return [word[at : at + 2] for at in range(len(word) - 1)] or [word]


def _weights(units: Sequence[Unit], words: Sequence[Sequence[str]], rules: Rules) -> dict[str, float]:
    frequency = Counter(chain.from_iterable(words))
    names = {name.casefold() for unit in units for name in _NAME.findall(unit.text)}
    weights: dict[str, float] = {}
    for word, count in frequency.items():
        weight = math.log1p(len(units) / count) ** 2
        if len(word) > 1 and any(map(str.isdigit, word)):
            weight *= rules.number * (1 + math.log(count) * rules.repeated)
        elif word in names:
            weight *= rules.name
        weights[word] = weight
    return weights
