"""What finds secrets in a text: declared patterns and recognisers, as regular expressions of RE2.

RE2 needs time in proportion to the text for one match, whatever the pattern. This is the one file that imports it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

import re2

from durable_memory.memory.privacy.checksums import cards, ibans
from durable_memory.memory.privacy.credentials import CREDENTIALS
from durable_memory.memory.privacy.entities import Check, Entity, Recogniser, Span
from durable_memory.memory.privacy.machines import MACHINES
from durable_memory.memory.privacy.neighbours import BEGINS, GAP
from durable_memory.memory.privacy.people import PEOPLE
from durable_memory.memory.privacy.redactor import TooSlow
from durable_memory.memory.privacy.telephones import TELEPHONES

PATTERN: Final = "pattern"
"""The kind of what a declared pattern finds."""

MAX_PROGRAM: Final = 20_000
"""Steps of a compiled pattern. A usual one has tens, a class of Unicode about 500."""

_MAX_STEPS: Final = 20_000_000_000
"""Steps of a declared pattern times characters of a text: what one match may cost at worst. 100,000 characters pass
with any pattern, and take 8 s if both were made for it."""

_MAX_MEMORY: Final = 32 << 20

_CARD_LABELS: Final = r"(?i:card|visa|amex|cc|pan|num(?:ber)?|no|nr)"
"""A label without a space behind it, as tables leave it when they are copied. A checksum tells the rest."""

_RECOGNISERS: Final = (
    *PEOPLE,
    *TELEPHONES,
    *MACHINES,
    *CREDENTIALS,
    Recogniser("credit_card", rf"(?:{BEGINS}|{_CARD_LABELS})(?P<value>[0-9](?:{GAP}[0-9]){{13,}})", cards),
    Recogniser("iban", rf"(?:{BEGINS}|(?i:iban))(?P<value>[A-Za-z]{{2}}[0-9]{{2}})", ibans),
)


Found: TypeAlias = tuple[int, int, str]
"""Where a secret stands in a text, and its kind."""


class PatternRefused(ValueError):
    """RE2 does not take this pattern. The text says why without repeating it."""


def compile_pattern(pattern: str) -> Any:
    """Returns a declared pattern as RE2 reads it. Raises PatternRefused."""
    try:
        compiled = re2.compile(pattern, _options(capturing=False))
    except re2.error as error:
        reason = str(error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]).partition(":")[0]
        raise PatternRefused(
            f"is no regular expression of RE2 ({reason}); look-around and back-references do not exist there"
        ) from None
    if compiled.programsize > MAX_PROGRAM:
        raise PatternRefused(
            f"is too large once its repetitions are written out: {compiled.programsize:,} steps, at most "
            f"{MAX_PROGRAM:,}; write + or * for {{n,m}}, or smaller classes"
        )
    return compiled


def _options(*, capturing: bool) -> Any:
    options = re2.Options()
    options.never_capture = not capturing  # faster, and bounded by the automaton alone
    options.log_errors = False  # it would write the pattern to the error stream
    options.max_mem = _MAX_MEMORY
    return options


@dataclass(frozen=True, slots=True)
class Finder:
    """Finds one kind of secret by one expression."""

    kind: str
    expression: Any
    group: int
    check: Check | None

    def spans(self, text: str, deadline: Deadline) -> Iterator[Span]:
        """Yields what is a secret in `text`. Raises TooSlow."""
        if self.kind == PATTERN:
            deadline.allow(self.expression.programsize, text)
        for match in self.expression.finditer(text):
            deadline.check()
            start, end = match.span(self.group)
            if end <= start:
                continue
            if self.check is None:
                yield start, end
            else:
                yield from self.check(text, start, end)


class Deadline:
    """How much longer finding may take, in seconds of this thread's own work.

    One match is quick, but a pattern may match at each character after it has read all that follows.
    """

    def __init__(self, seconds: float) -> None:
        self._ends = time.thread_time() + seconds
        self._countdown = _LOOKS_AT_CLOCK

    def allow(self, steps: int, text: str) -> None:
        """Raises TooSlow for a text that one match alone could keep busy too long."""
        if steps * len(text) > _MAX_STEPS:
            raise TooSlow(f"{len(text):,} characters are too many for a pattern of {steps:,} steps")

    def check(self) -> None:
        """Raises TooSlow once the time is over."""
        self._countdown -= 1
        if self._countdown:
            return
        self._countdown = _LOOKS_AT_CLOCK
        if time.thread_time() > self._ends:
            raise TooSlow("a pattern reads the text again and again")


_LOOKS_AT_CLOCK: Final = 16
"""Matches between two looks."""


class Finders:
    """Finders that look at a text together."""

    def __init__(self, finders: Sequence[Finder], sieve: Any = None) -> None:
        """sieve: an RE2 set of their expressions in their order, which tells those apart that match."""
        self.each = tuple(finders)
        self._sieve = sieve

    def spans(self, text: str, deadline: Deadline) -> list[Found]:
        """Returns what is a secret in `text`. Raises TooSlow."""
        finders: Iterable[Finder] = self.each
        if self._sieve is not None:
            matching = self._sieve.Match(text)
            if not matching:
                return []
            finders = (self.each[index] for index in matching)
        return [(start, end, finder.kind) for finder in finders for start, end in finder.spans(text, deadline)]


@lru_cache(maxsize=64)
def finders_of_entities(entities: frozenset[Entity], *, labelled: bool = False) -> Finders | None:
    """Returns what finds these entities; labelled: only what looks for a word before a value. None if nothing does."""
    chosen = [r for r in _RECOGNISERS if r.entity in entities and (r.labelled or not labelled)]
    if not chosen:
        return None
    # One pass of all expressions as one automaton tells which of them match: most texts hold none. Not for declared
    # patterns: where an automaton outgrows its memory, a set matches nothing and says nothing.
    sieve = re2.Set.SearchSet(_options(capturing=False))
    for recogniser in chosen:
        sieve.Add(recogniser.pattern)
    sieve.Compile()
    return Finders([_finder(recogniser) for recogniser in chosen], sieve)


def finders_of_patterns(patterns: Sequence[str]) -> Finders | None:
    """Returns what finds these patterns, None without any. Raises PatternRefused."""
    if not patterns:
        return None
    return Finders([Finder(PATTERN, compile_pattern(pattern), 0, None) for pattern in patterns])


def _finder(recogniser: Recogniser) -> Finder:
    named = "(?P<value>" in recogniser.pattern
    expression = re2.compile(recogniser.pattern, _options(capturing=named))
    group = expression.groupindex["value"] if named else 0
    return Finder(recogniser.entity, expression, group, recogniser.check)
