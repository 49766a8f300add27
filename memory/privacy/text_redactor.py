"""Redacts one text: finds on its shadows, cuts in the original, again until nothing is left to find."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from durable_memory.memory.privacy.entities import Entity, Span
from durable_memory.memory.privacy.finders import (
    Deadline,
    Finders,
    Found,
    finders_of_entities,
    finders_of_patterns,
)
from durable_memory.memory.privacy.labels import as_label
from durable_memory.memory.privacy.machines import says_version
from durable_memory.memory.privacy.redactor import Redacted
from durable_memory.memory.privacy.shadow import folded

MAX_SECONDS: Final = 3.0
"""What one text may take, in seconds of work. Usual ones take less than a millisecond for 10,000 characters."""

_ROUNDS: Final = 8
"""What is cut out changes what stands beside it. A text that changes after so many rounds still is not kept at all."""


class TextRedactor:
    """A Redactor by declared patterns and recognised entities."""

    def __init__(
        self, patterns: Sequence[str], entities: Sequence[Entity], marker: str, *, max_seconds: float = MAX_SECONDS
    ) -> None:
        """max_seconds: what one text may take. Raises PatternRefused for what is no pattern."""
        self._max_seconds = max_seconds
        self._marker = marker
        self._patterns = finders_of_patterns(patterns)
        self._entities = finders_of_entities(frozenset(entities))
        self._labelled = finders_of_entities(frozenset(entities), labelled=True)

    @property
    def marker(self) -> str:
        """See Redactor."""
        return self._marker

    def redact(self, text: str, label: str = "") -> Redacted:
        """See Redactor."""
        deadline = Deadline(self._max_seconds)
        found: Counter[str] = Counter()
        for _ in range(_ROUNDS):
            spans = self._found(text, label, deadline)
            cuts = list(self._cuts(text, spans)) if spans else ()
            if not cuts:
                return Redacted(text, found)
            found.update(kind for _, _, kind in cuts)
            text = self._cut_out(text, cuts)
        return Redacted(self._marker, found)

    def crossing(self, text: str) -> list[Span]:
        """See Redactor."""
        deadline = Deadline(self._max_seconds)
        return sorted((start, end) for start, end, _ in self._by(self._patterns, text, deadline, letters=False))

    def _found(self, text: str, label: str, deadline: Deadline) -> list[Found]:
        # Lists, not iterators: most texts hold nothing, and every append waits for this.
        found = self._by(self._patterns, text, deadline, letters=False)
        entities = self._by(self._entities, text, deadline, letters=True)
        if label and entities and says_version(as_label(label)):
            entities = [one for one in entities if one[0] > 0 or one[2] != "ip_address"]
        found += entities
        if label and self._labelled is not None:
            before = as_label(label)
            found += [
                (max(0, start - len(before)), end - len(before), kind)
                for start, end, kind in self._by(self._labelled, before + text, deadline, letters=True)
                if end > len(before)
            ]
        return found

    @staticmethod
    def _by(finders: Finders | None, text: str, deadline: Deadline, *, letters: bool) -> list[Found]:
        if finders is None:
            return []
        found = finders.spans(text, deadline)
        # On its shadow too; not instead, since what is dropped there may have kept two numbers apart.
        shadow = folded(text, letters=letters)
        if shadow is not None:
            found += [
                (*shadow.in_original(start, end), kind) for start, end, kind in finders.spans(shadow.text, deadline)
            ]
        return found

    def _cuts(self, text: str, found: Sequence[Found]) -> Iterator[Found]:
        """Yields what to cut out of where something was found, in order and apart; markers in the text are left."""
        spans = sorted(found, key=lambda span: (span[0], -span[1]))
        markers = self._markers(text)
        start, end, kind = spans[0]
        for other in spans[1:]:
            if other[0] < end:
                end = max(end, other[1])
            else:
                yield from _beside(markers, start, end, kind)
                start, end, kind = other
        yield from _beside(markers, start, end, kind)

    def _markers(self, text: str) -> list[Span]:
        markers: list[Span] = []
        at = text.find(self._marker)
        while at >= 0:
            markers.append((at, at + len(self._marker)))
            at = text.find(self._marker, markers[-1][1])
        return markers

    def _cut_out(self, text: str, cuts: Sequence[Found]) -> str:
        kept: list[str] = []
        position = 0
        for start, end, _ in cuts:
            kept += (text[position:start], self._marker)
            position = end
        kept.append(text[position:])
        return "".join(kept)


def _beside(markers: Sequence[Span], start: int, end: int, kind: str) -> Iterator[Found]:
    """Yields the parts of a span that are in no marker."""
    for index in range(bisect_right(markers, start, key=_end), len(markers)):
        begins, ends = markers[index]
        if begins >= end:
            break
        if begins > start:
            yield start, begins, kind
        start = ends
    if start < end:
        yield start, end, kind


def _end(span: Span) -> int:
    return span[1]
