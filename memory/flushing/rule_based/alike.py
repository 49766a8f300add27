"""Finds what one speaker says again and again, word for word or with other numbers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final

from durable_memory.memory.flushing.rule_based.units import Unit

_MANY: Final = 5
"""From so many messages on. Fewer may be answers to different questions, or a statement and its corrections."""


class Alike:
    """The rows of units that are alike: of one speaker, in many messages, with the same words except for numbers.

    others: by the position of the last unit of a row, those before it. last: by the position of each of these, that of
    the last. varying: the words in which units of a row differ, and which no unit outside of all rows has.
    """

    def __init__(
        self,
        units: Sequence[Unit],
        words: Sequence[Sequence[str]],
        numbers: AbstractSet[str],
        frequency: Mapping[str, int],
    ) -> None:
        """words: of each unit, by its position. numbers: words with digits. frequency: how often each word comes."""
        least = 2 if any(unit.times > 1 for unit in units) else _MANY
        # Most units have a word that is too rare for a row, so this keeps the work small.
        rare = {word for word, count in frequency.items() if count < least} - numbers
        shown = {word: "#" if word in numbers else word for word in frequency.keys() - rare}
        alike: defaultdict[tuple[str, tuple[str, ...]], list[Unit]] = defaultdict(list)
        for unit, said in zip(units, words, strict=False):
            if rare.isdisjoint(said):
                alike[unit.speaker, tuple(map(shown.__getitem__, said))].append(unit)
        rows = [row for row in alike.values() if len(row) >= least and _many(row)]
        self.others = {last.position: others for *others, last in rows}
        self.last = {unit.position: last for last, others in self.others.items() for unit in others}
        self.varying = set[str]()
        inside = Counter(chain.from_iterable(words[unit.position] for row in rows for unit in row))
        for *others, last in rows:
            same = set(words[others[0].position]).intersection(words[last.position])
            varying = set().union(words[last.position], *(words[unit.position] for unit in others)) - same
            self.varying.update(word for word in varying if inside[word] == frequency[word])


def _many(row: Sequence[Unit]) -> bool:
    # What an earlier summary counted was many then.
    return len({unit.line for unit in row}) >= _MANY or any(unit.times > 1 for unit in row)
