"""Recognisers of what belongs to people: e-mail addresses and US social security numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from durable_memory.memory.privacy.entities import Recogniser, Span
from durable_memory.memory.privacy.neighbours import (
    BEGINS,
    BREAKS,
    LEADS,
    MARKUP,
    NEXT,
    PAST,
    WHITE,
    is_alone,
    is_in_table,
)

_LOCAL: Final = r"[\p{L}\p{N}!#$%&'*+/=?^_`{|}~.\-]+"
_QUOTED: Final = r'\\{0,3}"[\p{L}\p{N}_](?:(?:[^"\\\r\n]|\\[^\r\n])*[\p{L}\p{N}_])?\\{0,3}"'
"""Quotes allow a local part to hold spaces and signs. Not first and last: so stand quotes between two texts in code and
tables. JSON in a text has backslashes before them. No count limits it, which would make many states of an automaton."""
_LABEL: Final = r"[\p{L}\p{N}](?:[\p{L}\p{N}\-]*[\p{L}\p{N}])?"
_TOP_LEVEL: Final = r"(?:(?i:xn--)[A-Za-z0-9\-]*[A-Za-z0-9]|\p{L}{2,})"
"""The encoded form comes first: the `xn` that it begins with is a word as well, and the first that fits is taken."""

_FILE: Final = re.compile(
    r"[0-9]+x\.[A-Za-z]{3,4}|[^.]+\.(?:service|socket|timer|target|slice|scope|mount|device)", re.ASCII
)
"""What stands behind the @ in names of pictures for dense screens (`logo@2x.png`) and of units of systemd
(`user@1000.service`)."""


def _emails(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields an address, but no name of a file, no Git remote (`git@host:path`), and no page of `https://host/@name`."""
    local, _, domain = text[start:end].rpartition("@")
    user = local.rpartition("/")[2]
    if _FILE.fullmatch(domain) or not user or (user == "git" and text[end : end + 1] in (":", "/")):
        return
    yield start, end


_BETWEEN: Final = (rf" ?-[{WHITE}]{{0,2}}", rf"(?: | ?[{BREAKS}]{{1,2}})", r"\.")
"""What parts the groups of a social security number; of one number always the same."""

_WRITTEN: Final = "|".join(
    f"[0-9]{{3}}{MARKUP}{between}{MARKUP}[0-9]{{2}}{MARKUP}{between}{MARKUP}[0-9]{{4}}" for between in _BETWEEN
)
_NAMED: Final = rf"[0-9]{{3}}[{WHITE}./\-]{{0,3}}[0-9]{{2}}[{WHITE}./\-]{{0,3}}[0-9]{{4}}"
_NAMED_HERE: Final = re.compile(_NAMED)
_NAMES: Final = r"(?:\b|_)(?:ssn|social[ _\-]?security)"
_NUMBER: Final = r"(?:[ _\-]?(?:number|no|nr))"
_NUMBERS: Final = r"(?:[ _\-]?(?:numbers|nos|nrs))"


def _ssn(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields what the Social Security Administration may have given out."""
    digits = "".join(filter(str.isdigit, text[start:end]))
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    given_out = area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"
    if given_out and is_alone(text, start, end):
        yield start, end


def _written(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields a number by its groups; over columns or lines only if no more numbers stand beside it there."""
    if not is_in_table(text, start, end):
        yield from _ssn(text, start, end)


def _each_named(text: str, start: int, end: int) -> Iterator[Span]:
    for number in _NAMED_HERE.finditer(text, start, end):
        yield from _ssn(text, *number.span())


PEOPLE: Final = (
    Recogniser("email", rf"(?:{_LOCAL}|{_QUOTED})@{_LABEL}(?:\.{_LABEL})*\.{_TOP_LEVEL}", _emails),
    Recogniser(
        "email",
        rf"(?i){_LOCAL}\s?[\[({{<]\s?at\s?[\])}}>]\s?{_LABEL}(?:\s?(?:[\[({{<]\s?dot\s?[\])}}>]|\.)\s?{_LABEL})+",
    ),
    Recogniser("us_ssn", rf"{BEGINS}(?P<value>{_WRITTEN})", _written),
    Recogniser("us_ssn", rf"(?i){_NAMES}s?{_NUMBER}?{PAST}?{LEADS}(?P<value>{_NAMED})", _ssn, labelled=True),
    Recogniser(
        "us_ssn",
        rf"(?i){_NAMES}(?:s|{_NUMBERS}){LEADS}(?P<value>{_NAMED}(?:{NEXT}{_NAMED})*)",
        _each_named,
        labelled=True,
    ),
)
