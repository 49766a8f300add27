"""Recognisers of what belongs to people: e-mail addresses, telephone numbers, US social security numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from durable_memory.memory.privacy.entities import Recogniser, Span

_LOCAL: Final = r"[\p{L}\p{N}!#$%&'*+/=?^_`{|}~.\-]+"
_LABEL: Final = r"[\p{L}\p{N}](?:[\p{L}\p{N}\-]*[\p{L}\p{N}])?"
_PICTURE: Final = re.compile(r"[0-9]+x\.[A-Za-z]{3,4}", re.ASCII)

_SHORTEST_LOCAL: Final = 6
_SHORTEST_INTERNATIONAL: Final = 8
_SHORTEST_NATIONAL: Final = 9
_LONGEST_PHONE: Final = 15
"""Digits of a number with its country: E.164."""

_DATE: Final = re.compile(
    r"(?:[0-3]?[0-9]([-/. ])[01]?[0-9]\1(?:19|20)[0-9]{2}|(?:19|20)[0-9]{2}([-/.])[01]?[0-9]\2[0-3]?[0-9])(?:\D|$)",
    re.ASCII,
)
_JOINED_BEFORE: Final = re.compile(r"\w$|[0-9][.\-/]$", re.ASCII)
_NUMBER_BEFORE: Final = re.compile(r"[0-9][ .\-/]{1,2}$", re.ASCII)
_LONG_GROUP: Final = re.compile(r"[0-9]{3}", re.ASCII)
_PAIR_AFTER: Final = re.compile(r"[ .\-/][0-9]{2}\b", re.ASCII)
_JOINED_AFTER: Final = re.compile(r"\w|[.\-/][0-9]", re.ASCII)


def _emails(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields an address, but not a picture for dense screens (logo@2x.png) or a Git remote (git@host:path)."""
    local, _, domain = text[start:end].rpartition("@")
    if _PICTURE.fullmatch(domain) or (local == "git" and text[end : end + 1] == ":"):
        return
    yield start, end


def _alone(text: str, start: int, end: int) -> bool:
    """Tells whether the number is not a part of a longer one, or of a word."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return _JOINED_BEFORE.search(before) is None and _JOINED_AFTER.match(after) is None


def _number(text: str, start: int, end: int, fewest: int) -> Span | None:
    """Returns where the telephone number is that begins at `start`, if it has at least `fewest` digits.

    What follows it behind a space may be another number, so it takes whole groups: as many as are allowed, and none
    that goes on as something else.
    """
    digits = 0
    stop: int | None = None
    for position in range(start, end):
        if not text[position].isdigit():
            continue
        digits += 1
        if digits > _LONGEST_PHONE:
            break
        of_group = position + 1 == len(text) or not text[position + 1].isdigit()
        if of_group and digits >= fewest and _alone(text, start, position + 1):
            stop = position + 1
    return None if stop is None else (start, stop)


def _international(text: str, start: int, end: int) -> Iterator[Span]:
    if (number := _number(text, start, end, _SHORTEST_INTERNATIONAL)) is not None:
        yield number


def _national(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields a number with its trunk 0, but no date, and no row of short numbers."""
    number = _number(text, start, end, _SHORTEST_NATIONAL)
    if number is not None and not _DATE.match(text[start:end]) and _LONG_GROUP.search(text, *number):
        yield number


def _in_pairs(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields a number in groups that others have too, unless it is a part of a longer row of them."""
    number = _number(text, start, end, _SHORTEST_NATIONAL)
    before = _NUMBER_BEFORE.search(text[max(0, start - 3) : start])
    if number is not None and before is None and _PAIR_AFTER.match(text, end) is None:
        yield number


def _american(text: str, start: int, end: int) -> Iterator[Span]:
    if _alone(text, start, end):
        yield start, end


def _named(text: str, start: int, end: int) -> Iterator[Span]:
    number = _number(text, start, end, _SHORTEST_LOCAL)
    if number is not None and not _DATE.match(text[start:end]):
        yield number


def _ssn(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields what the Social Security Administration may have given out."""
    digits = "".join(filter(str.isdigit, text[start:end]))
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    given_out = area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"
    if given_out and _alone(text, start, end):
        yield start, end


_PHONE_WORDS: Final = r"(?:tele?(?:phone|fon)?|phone|mobile?|mob|cell(?:phone)?|fax|whatsapp|handy|call me(?: at| on)?)"

PEOPLE: Final = (
    Recogniser("email", rf"{_LOCAL}@{_LABEL}(?:\.{_LABEL})*\.(?:\p{{L}}{{2,}}|xn--[a-z0-9\-]+)", _emails),
    Recogniser(
        "email",
        rf"(?i){_LOCAL}\s?[\[({{<]\s?at\s?[\])}}>]\s?{_LABEL}(?:\s?(?:[\[({{<]\s?dot\s?[\])}}>]|\.)\s?{_LABEL})+",
    ),
    Recogniser("phone", r"\+ ?\(?[1-9][0-9]{0,14}\)?(?:[ .\-/]{0,2}\(?[0-9]{1,14}\)?){0,9}", _international),
    Recogniser("phone", r"\b00[1-9][0-9]{0,2}(?:[ .\-/]{1,2}\(?[0-9]{1,14}\)?){1,9}", _in_pairs),
    Recogniser("phone", r"\(?\b0[1-9][0-9]{0,4}\)?(?:[ /\-][0-9]{2,9}){1,4}", _national),
    Recogniser("phone", r"\b0[1-9](?:[ .\-][0-9]{2}){4}", _in_pairs),
    Recogniser(
        "phone",
        r"(?:\b1[ .\-])?(?:\([2-9][0-9]{2}\) ?|\b[2-9][0-9]{2}[ .\-])[0-9]{3}[ .\-][0-9]{4}",
        _american,
    ),
    Recogniser(
        "phone",
        rf"(?i)(?:\b|_){_PHONE_WORDS}(?:[ _\-]?(?:number|nummer|no|nr))?[\"']?[ .:=#\-]{{1,3}}[\"']?"
        r"(?P<value>\+?[0-9(][0-9 ()./\-]{4,20}[0-9])",
        _named,
        labelled=True,
    ),
    Recogniser("us_ssn", r"\b[0-9]{3}(?:-[0-9]{2}-| [0-9]{2} |\.[0-9]{2}\.)[0-9]{4}\b", _ssn),
    Recogniser(
        "us_ssn",
        r"(?i)(?:\b|_)(?:ssn|social[ _\-]?security(?:[ _\-]?(?:number|no|nr))?)(?: is)?[\"']?[ .:=#\-]{1,3}[\"']?"
        r"(?P<value>[0-9]{3}[ .\-]?[0-9]{2}[ .\-]?[0-9]{4})\b",
        _ssn,
        labelled=True,
    ),
)
