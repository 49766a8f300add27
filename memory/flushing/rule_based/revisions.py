"""Finds the later sentence that revises an earlier one: about the same thing, it says something else."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, chain, compress
from typing import Final, NamedTuple, TypeAlias

from durable_memory.memory.flushing.rule_based.units import Unit
from durable_memory.memory.flushing.rule_based.words import IDENTIFIER, NAME, kinds_of, rarity_of

_AROUND: Final = 4
"""Words on each side of a value that tell what it is the value of."""

_TELLING: Final = 0.2
"""Below this rarity (0: in every unit, 1: in one) a word does not tell what a sentence speaks of."""

_SAME: Final = 1.1
"""Rarity that two values of the same thing share around them at least: of two rare words, or a rare one and others."""

_SURE: Final = 1.2
"""From here on the older value counts nothing. With less, the two sentences are only kept together."""

_ENOUGH: Final = 0.6
"""With less around the values the whole sentences are not compared."""

_ELSEWHERE: Final = 0.25
"""What a shared word counts that stands elsewhere in the two sentences."""

_CUE: Final = 0.25
"""What a word of correction near the new value counts: little, since the shared words are the evidence."""

_SAME_PHRASE: Final = 0.75
"""Rarity at least of a phrase that is said again beside a word of correction."""

_BESIDE: Final = 2
"""Words between such a phrase or a value and that word at most, itself counted: "we take the train instead"."""

_COMPARED: Final = 10
"""Later units with the same word that are looked at: the next ones. It bounds the work."""

_MOST_VALUES: Final = 8
"""Sentences with more values are lists, which state and do not correct."""

_SHORT: Final = 6
"""Words at most of a sentence that gives a new value and does not say of what: "No, make that Thursday"."""

_BACK: Final = 24
"""Units from there to what it corrects at most."""

_QUESTIONS: Final = 4
"""Questions at most that tell what an answer is about."""

_CUES: Final = frozenset(
    (
        *("instead", "actually", "correction", "corrected", "rather", "change", "changed", "moved", "sorry", "longer"),
        *("no", "not", "never", "don't", "doesn't", "isn't", "won't", "can't", "cannot"),
        *("nein", "nicht", "kein", "keine", "sondern", "doch", "non", "pas", "plutôt", "ya"),
    )
)
"""Words of correction. No list could be complete, and none has to be: they only add to the evidence."""

_DENIALS: Final = frozenset(
    ("not", "no", "instead", "rather", "longer", "nicht", "kein", "keine", "non", "pas", "não", "niet")
)
"""Words of correction before a value that holds no longer."""

_ALIGNED: Final = 0.2
"""What each word counts that both values have right beside them: two in "costs 5 euros", "costs 7 euros"."""


_Slot: TypeAlias = tuple[str, str, str]
"""A place in a sentence: the kind of the word there, or none, and the words before and after, as far as they count."""


class Revision(NamedTuple):
    """What became of an older sentence.

    newer: position of the one that holds now. value: what that one says anew, withdrawn: what the older one said
    instead; both empty where they differ in more than a value.
    """

    newer: int
    value: str = ""
    withdrawn: str = ""


class Revisions:
    """Finds the unit that revises another one. Most of the work is done when it is asked about a unit.

    In a large flush few units are ever asked about. Tool calls and results revise nothing: results resemble each other,
    and what matters in them is said again in the conversation.
    """

    def __init__(
        self,
        units: Sequence[Unit],
        words: Sequence[Sequence[str]],
        numbers: AbstractSet[str],
        names: Mapping[str, int],
        frequency: Mapping[str, int],
    ) -> None:
        """words: of each unit. numbers: words with digits. names, frequency: how often a word is a name, or comes."""
        self._units = units
        self._words = words
        self._kinds = kinds_of(numbers, names, {unit.speaker for unit in units}, frequency)
        speakers = [unit.speaker for unit in units]
        begins = [int(speaker != before) for speaker, before in zip(speakers, ["", *speakers], strict=False)]
        self._turns = list(accumulate(begins))
        self._starts = [0, *compress(range(len(units)), begins)]
        self._rarity = rarity_of(frequency, len(units))
        # A word that occurs once is shared by no two units.
        self._telling = {word for word, count in frequency.items() if count > 1 and self._rarity[word] >= _TELLING}
        self._with_word: dict[str, list[int]] = {word: [] for word in self._telling}
        self._correcting = set[int]()
        self._places: dict[int, tuple[int, ...]] = {}
        self._asked_before: dict[int, set[str]] = {}
        self._newest: dict[int, Revision | None] = {}
        self._leans: dict[int, int] = {}
        self._corrected: dict[int, tuple[int, str, str]] = {}
        self._index_what_revises()

    def of(self, position: int) -> Revision | None:
        """Returns the revision of a unit: by the last unit in the chain of those that revise each other."""
        path: list[tuple[int, Revision | None]] = []
        at: int | None = position
        while at is not None and at not in self._newest:
            path.append((at, then := self._next(at)))
            at = None if then is None else then.newer
        for one, first in reversed(path):
            last = None if first is None else self._newest[first.newer]
            if first is not None and last is not None:
                self._newest[one] = Revision(last.newer, last.value, first.withdrawn)
            else:
                self._newest[one] = first
        return self._newest[position]

    def leans_on(self, position: int) -> int | None:
        """Returns the unit without which a short correction cannot be understood; None for other units.

        Several short corrections in a row all lean on what the first one corrects, and not on each other: those between
        hold no longer, and a unit must not bring a whole row along.
        """
        return self._leans.get(position)

    def _next(self, position: int) -> Revision | None:
        # The candidate with the most evidence; of equals the latest.
        surest = max(self._candidates(position), default=None)
        return None if surest is None else surest[1]

    def _candidates(self, position: int) -> Iterator[tuple[float, Revision]]:
        if not self._units[position].by_tool:
            yield from self._other_values(position)
            yield from self._said_otherwise(position)
            if (corrected := self._corrected.get(position)) is not None:
                yield _SURE, Revision(*corrected)

    def _values(self, position: int) -> tuple[int, ...]:
        """Returns where the values of a unit stand. Few units are ever asked for."""
        if position not in self._places:
            words = self._words[position]
            self._places[position] = tuple(at for at, word in enumerate(words) if word in self._kinds)
        return self._places[position]

    def _index_what_revises(self) -> None:
        """Notes the units with a value or a word of correction by their telling words. Others revise nothing."""
        values = set(self._kinds)
        for unit, words in zip(self._units, self._words, strict=True):
            corrects = not _CUES.isdisjoint(words)
            if unit.by_tool or (not corrects and values.isdisjoint(words)):
                continue
            for word in self._telling.intersection(words):
                self._with_word[word].append(unit.position)
            if corrects:
                self._correcting.add(unit.position)
                if len(words) <= _SHORT:
                    self._find_corrected(unit)

    def _later(self, word: str, position: int) -> Sequence[int]:
        places = self._with_word.get(word, [])
        return places[(start := bisect_right(places, position)) : start + _COMPARED]

    def _other_values(self, older: int) -> Iterator[tuple[float, Revision]]:
        """Yields the units that give the same thing another value, and how sure it is."""
        words = self._words[older]
        values = self._values(older)
        for at in values if len(values) <= _MOST_VALUES else ():
            around = self._around(older, at)
            kind, before = self._kinds[words[at]], words[at - 1] if at else ""
            shared: dict[int, float] = {}
            for word in around:
                for newer in self._later(word, older):
                    shared[newer] = shared.get(newer, 0.0) + self._rarity[word]
            for newer, alike in shared.items():
                said = self._words[newer]
                for new_at in self._values(newer):
                    value = said[new_at]
                    if self._kinds[value] != kind or value == words[at]:
                        continue
                    if alike < _ENOUGH and (not new_at or said[new_at - 1] != before):
                        continue  # the usual case: a word that comes again
                    evidence = self._evidence(older, at, newer, new_at, around)
                    if evidence >= _SAME:
                        yield evidence, Revision(newer, value, words[at]) if evidence >= _SURE else Revision(newer)

    def _evidence(self, older: int, old_at: int, newer: int, new_at: int, around: set[str]) -> float:
        """Returns how sure it is that two values are of the same thing: the rarity of what they share, above all."""
        cue = not _CUES.isdisjoint(self._beside(newer, new_at, _AROUND))
        if not cue and self._turns[older] == self._turns[newer]:
            return 0.0  # side by side in one breath: a list
        old_words, new_words = self._words[older], self._words[newer]
        near = sum(map(self._rarity.__getitem__, around & self._around(newer, new_at)))
        near += _ALIGNED * _aligned(old_words, old_at, new_words, new_at)
        if near < _ENOUGH or new_words[new_at] in old_words or self._holds(newer, old_words[old_at]):
            return 0.0
        old, new = set(old_words), set(new_words)
        shared = old & new
        both = sum(map(self._rarity.__getitem__, shared))
        evidence = near + _CUE * cue
        evidence += _ELSEWHERE * max(0.0, both - evidence)
        if named := sum(self._rarity[word] for word in shared if IDENTIFIER.fullmatch(word)):
            return evidence + named
        # Two sentences that differ in another place as well speak of two things: Ana's Monday and Ben's Friday.
        old_own, old_others = self._slots(older, old_at, new)
        new_own, new_others = self._slots(newer, new_at, old)
        differ = old_others & new_others or old_own & new_others or old_others & new_own
        return 0.0 if differ else evidence

    def _holds(self, position: int, value: str) -> bool:
        """Tells whether a unit has this value, and no word of denial right before it: "not on Monday but on Friday"."""
        words = self._words[position]
        return any(
            word == value and _DENIALS.isdisjoint(words[max(0, at - _BESIDE) : at]) for at, word in enumerate(words)
        )

    def _slots(self, position: int, at: int, other: set[str]) -> tuple[set[_Slot], set[_Slot]]:
        """Returns where this unit has words that the other has not: the value at a word, and all others.

        The neighbours of the value belong to it: 12 May and 13 June differ in one place.
        """
        words = ["", *self._words[position], ""]
        own, others = set[_Slot](), set[_Slot]()
        for place in range(1, len(words) - 1):
            word, before, after, distance = words[place], words[place - 1], words[place + 1], abs(place - 1 - at)
            if word in other or distance == 1:
                continue
            kind = self._kinds.get(word, "")
            slots = own if distance == 0 else others
            if kind:
                slots.update(slot for slot in ((kind, before, ""), (kind, "", after)) if slot != (kind, "", ""))
            elif before and after and distance <= _AROUND:
                slots.add(("", before, after))
        return own, others

    def _said_otherwise(self, older: int) -> Iterator[tuple[float, Revision]]:
        """Yields the units that repeat a phrase of this one beside a word of correction."""
        words = self._words[older]
        mine = set(zip(words, words[1:], words[2:], strict=False))
        later = (self._later(word, older) for word in self._telling.intersection(words))
        for newer in self._correcting.intersection(chain.from_iterable(later)):
            said = self._words[newer]
            if self._turns[newer] == self._turns[older]:
                continue
            phrases = enumerate(zip(said, said[1:], said[2:], strict=False))
            places = {place for at, phrase in phrases if phrase in mine for place in (at, at + 1, at + 2)}
            beside = {word for at in places for word in self._beside(newer, at, _BESIDE)} - {said[at] for at in places}
            evidence = sum(self._rarity[word] for word in {said[at] for at in places})
            if evidence >= _SAME_PHRASE and not _CUES.isdisjoint(beside):
                yield evidence, Revision(newer)

    def _find_corrected(self, unit: Unit) -> None:
        """Finds what a short sentence with one value corrects: the last value like it that its speaker gave before.

        Who corrects without saying what says little else.
        """
        position, words = unit.position, self._words[unit.position]
        if len(places := self._values(position)) != 1:
            return
        value = words[places[0]]
        for older in range(position - 1, max(0, position - _BACK) - 1, -1):
            before = self._units[older]
            if before.speaker != unit.speaker or before.by_tool:
                continue
            said = [self._words[older][at] for at in self._values(older)]
            if (corrected := next((one for one in reversed(said) if self._like(one, value)), None)) is None:
                continue
            if value not in self._words[older]:
                self._leans[position] = self._leans.get(older, older)
            if corrected not in words:
                self._corrected[older] = (position, value, corrected)
            return

    def _like(self, one: str, other: str) -> bool:
        # Of names the end: days of the week share theirs in many languages.
        kind = self._kinds[one]
        return kind == self._kinds[other] and (kind != NAME or one[-3:] == other[-3:])

    def _around(self, position: int, at: int) -> set[str]:
        near = self._telling.intersection(self._beside(position, at, _AROUND))
        # An identifier is often all of an answer; the question says of what.
        return near | self._asked(position) if IDENTIFIER.fullmatch(self._words[position][at]) else near

    def _asked(self, position: int) -> set[str]:
        """Returns the telling words of the last questions in the turn before this one."""
        turn = self._turns[position]
        if turn not in self._asked_before:
            end = self._starts[turn]
            units = self._units[max(self._starts[turn - 1], end - _BACK) : end]
            questions = [unit.position for unit in units if unit.text.endswith("?")][-_QUESTIONS:]
            words = chain.from_iterable(map(self._words.__getitem__, questions))
            self._asked_before[turn] = self._telling.intersection(words)
        return self._asked_before[turn]

    def _beside(self, position: int, at: int, reach: int) -> list[str]:
        words = self._words[position]
        return [*words[max(0, at - reach) : at], *words[at + 1 : at + reach + 1]]


def _aligned(old: Sequence[str], old_at: int, new: Sequence[str], new_at: int) -> int:
    """Returns how many words right before and right after two values are the same."""
    before = after = 0
    while before < min(old_at, new_at, _AROUND) and old[old_at - before - 1] == new[new_at - before - 1]:
        before += 1
    most = min(len(old) - old_at, len(new) - new_at, _AROUND + 1) - 1
    while after < most and old[old_at + after + 1] == new[new_at + after + 1]:
        after += 1
    return before + after
