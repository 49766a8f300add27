"""Recognisers of telephone numbers: with a country, in American form, with a trunk 0, or behind a word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from durable_memory.memory.privacy.entities import Recogniser, Span
from durable_memory.memory.privacy.neighbours import (
    BEGINS,
    BREAKS,
    LEADS,
    NEXT,
    PAST,
    WHITE,
    has_break,
    is_alone,
    is_in_table,
)

_SHORTEST_LOCAL: Final = 6
_SHORTEST_INTERNATIONAL: Final = 8
_SHORTEST_NATIONAL: Final = 9
_LONGEST: Final = 15
"""Digits of a number with its country: E.164."""

_DATE: Final = re.compile(
    r"(?:[0-3]?[0-9]([-/. ])[01]?[0-9]\1(?:19|20)[0-9]{2}|(?:19|20)[0-9]{2}([-/.])[01]?[0-9]\2[0-3]?[0-9])(?:\D|$)",
    re.ASCII,
)
_GROUP: Final = re.compile(r"[0-9]+")
_LONG_GROUP: Final = re.compile(r"[0-9]{3}")
_STAMP_BEFORE: Final = re.compile(r"[0-9]_\Z")
"""As in `2024_01-15-103045`: underscores part dates and times in names of files."""

_PAIR_BEFORE: Final = re.compile(r"[0-9](?:[ \t.\-/_]|[ \-/]{2})\Z")
_PAIR_AFTER: Final = re.compile(r"[ \t.\-/_][0-9]{2}(?![A-Za-z0-9])")
_EXTENSION: Final = re.compile(
    r"(?:[ ,]{0,2}(?:x|ext(?:n|ension)?|\#)[.:]?[ ]?\#?[ ]?|;ext=)[0-9]{1,7}(?![A-Za-z0-9])", re.IGNORECASE
)


def _end_of(text: str, start: int, end: int) -> int | None:
    """Returns where the number ends with its extension, None if it is a part of something else."""
    extension = _EXTENSION.match(text, end)
    if extension is not None:
        end = extension.end()
    return end if is_alone(text, start, end) else None


def _number(text: str, start: int, end: int, fewest: int) -> Span | None:
    """Returns where the telephone number is that begins at `start`, if it has at least `fewest` digits.

    What follows it behind a space may be another number, so it takes whole groups: as many as are allowed, and none
    that goes on as something else. Behind a tab or the end of a line it takes one only while it is too short without,
    or if such a gap parted the groups before too.
    """
    digits = 0
    stop: int | None = None
    gap, position = "", start
    for group in _GROUP.finditer(text, start, end):
        last_gap, gap = gap, text[position : group.start()]
        if stop is not None and gap != last_gap and has_break(gap, 0, len(gap)):
            break
        position = group.end()
        digits += position - group.start()
        if digits > _LONGEST:
            break
        if digits >= fewest:
            stop = _end_of(text, start, position) or stop
    return None if stop is None else (start, stop)


def _international(text: str, start: int, end: int) -> Iterator[Span]:
    if (number := _number(text, start, end, _SHORTEST_INTERNATIONAL)) is not None:
        yield number


def _national(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields a number with its trunk 0, but no date, no row of short numbers and no column of any."""
    if _STAMP_BEFORE.search(text[max(0, start - 2) : start]):
        return
    number = _number(text, start, end, _SHORTEST_NATIONAL)
    if number is None or _DATE.match(text[start:end]) or not _LONG_GROUP.search(text, *number):
        return
    filled = has_break(text, *number) and all(group.startswith("0") for group in _GROUP.findall(text, *number))
    if not filled and not is_in_table(text, *number):
        yield number


def _in_pairs(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields a number in groups that others have too, unless it is a part of a longer row of them."""
    number = _number(text, start, end, _SHORTEST_NATIONAL)
    before = _PAIR_BEFORE.search(text[max(0, start - 3) : start])
    if number is not None and before is None and _PAIR_AFTER.match(text, end) is None:
        yield number


def _american(text: str, start: int, end: int) -> Iterator[Span]:
    stop = _end_of(text, start, end)
    if stop is not None and not is_in_table(text, start, end):
        yield start, stop


def _named(text: str, start: int, end: int) -> Iterator[Span]:
    number = _number(text, start, end, _SHORTEST_LOCAL)
    if number is not None and not _DATE.match(text[start:end]):
        yield number


def _named_in_another_script(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields the number behind a word that stands for the thing as well: it may be how many, or what they cost."""
    value = text[start:end]
    led = text[max(0, start - 8) : start].rstrip(" \t\"'").endswith(_LEADS_TO_A_NUMBER)
    number = _number(text, start, end, _SHORTEST_LOCAL if led else _SHORTEST_BEHIND_A_WORD)
    if number is not None and not _DATE.match(value) and not _PRICE.fullmatch(value):
        yield number


def _each_named(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields the numbers of a list. What is matched as one value may be two: one ends where its line does."""
    position = start
    while (value := _VALUE_HERE.search(text, position, end)) is not None:
        position = value.end()
        for number in _named(text, *value.span()):
            position = number[1]
            yield number


_IN_LINE: Final = r"(?:[ .\-/]{0,2}\(?[0-9]{1,14}\)?)"
_OVER_LINES: Final = rf"(?:[ .\-/]?[{BREAKS}]{{1,2}}\(?[0-9]{{1,14}}\)?)"
_ANY: Final = rf"(?:[ .\-/{BREAKS}]{{0,2}}\(?[0-9]{{1,14}}\)?)"

_NATIONAL_IN_LINE: Final = r"(?:[ /\-][0-9]{2,9})"
_NATIONAL_OVER_LINES: Final = rf"(?:[ /\-]?[{BREAKS}]{{1,2}}[0-9]{{2,9}})"
_NATIONAL: Final = (
    rf"\(?0[1-9][0-9]{{1,4}}\)?{_NATIONAL_IN_LINE}{{1,4}}"
    rf"|\(?0[1-9]\)?(?:[ /\-][0-9]{{2}}){{0,3}}[ /\-][0-9]{{3,9}}{_NATIONAL_IN_LINE}{{0,3}}"
)
"""One of the groups has three digits, or each date and time would be looked at."""

_AMERICAN_GAP: Final = rf"(?:[ .\-]| - |[ .\-]?[{BREAKS}]{{1,2}})"

_WORDS: Final = (
    r"(?:\b|_)(?:(?:tele?(?:phone|fon)?|(?:home|work|office|contact|cell)?phone|mobile?|mob|fax|whatsapp|handy|msisdn)s?"
    r"|cell|contact[ _\-](?:number|no)|call me"
    r"|(?:call|text|ring|phone|reach|message|whatsapp) (?:me|us|him|her|them) (?:at|on)"
    r"|rufnummer|tél|tel[eé]fonos?|telefones?|telemóvel|telefoon|m[oó]vil|celular|cellulare)"
)
_WORDS_OF_OTHER_SCRIPTS: Final = (
    r"(?:(?:^|\P{L})(?:телефона?|тел|моб|τηλ(?:έφωνο)?|(?:ال)?هاتف|(?:ال)?جوال|ה?טלפון|ה?נייד|फ़ोन|फोन|मोबाइल)"
    "|电话|電話|手机|手機|携帯|전화|휴대폰|핸드폰|โทร(?:ศัพท์)?)(?:号码|號碼|番号|号|번호)?(?:は|是|는|은)?"
)
_LEADS_TO_A_NUMBER: Final = (*":=|.-", *("号码", "號碼", "番号", "号", "번호", "は", "是", "는", "은"))
_PRICE: Final = re.compile(r"[0-9]+[.,][0-9]{2}")
_SHORTEST_BEHIND_A_WORD: Final = 9
"""Digits of a telephone number right behind a word that may as well count or price telephones."""
_PLURALS: Final = r"(?:\b|_)(?:telephone|(?:home|work|office|contact|cell)?phone|mobile|faxe)s"
"""Cells are those of a table."""
_INDEX: Final = r"(?:[\[._\-]?[0-9]{1,2}\]?)?"
_VALUE: Final = rf"\+?[0-9(][0-9 ()./\-{BREAKS}]{{4,20}}[0-9]"
_VALUE_HERE: Final = re.compile(_VALUE)

TELEPHONES: Final = (
    # What reaches over lines has a pattern of its own: one for both would take a list, a number a line, for one number.
    Recogniser("phone", rf"\+ ?\(?[1-9][0-9]{{0,14}}\)?{_IN_LINE}{{0,9}}", _international),
    Recogniser("phone", rf"\+ ?\(?[1-9][0-9]{{0,14}}\)?{_IN_LINE}{{0,4}}{_OVER_LINES}{_ANY}{{0,6}}", _international),
    Recogniser(
        "phone", rf"{BEGINS}(?P<value>00[1-9][0-9]{{0,2}}(?:[ .\-/\t]{{1,2}}\(?[0-9]{{1,14}}\)?){{1,9}})", _in_pairs
    ),
    Recogniser("phone", rf"{BEGINS}(?P<value>{_NATIONAL})", _national),
    Recogniser(
        "phone",
        rf"{BEGINS}(?P<value>\(?00?[1-9][0-9]{{0,4}}\)?{_NATIONAL_IN_LINE}{{0,3}}{_NATIONAL_OVER_LINES}"
        rf"(?:{_NATIONAL_IN_LINE}|{_NATIONAL_OVER_LINES}){{0,3}})",
        _national,
    ),
    Recogniser("phone", rf"{BEGINS}(?P<value>0[1-9](?:[ .\-\t][0-9]{{2}}){{4}})", _in_pairs),
    Recogniser(
        "phone",
        rf"{BEGINS}(?P<value>(?:1{_AMERICAN_GAP})?"
        rf"(?:\([2-9][0-9]{{2}}\){_AMERICAN_GAP}?[0-9]{{3}}{_AMERICAN_GAP}?"
        rf"|[2-9][0-9]{{2}}{_AMERICAN_GAP}[0-9]{{3}}{_AMERICAN_GAP})[0-9]{{4}})",
        _american,
    ),
    Recogniser(
        "phone",
        rf"(?i){_WORDS}(?:[ _\-]?(?:numbers?|nummern?|nos?|nrs?){PAST}?)?{_INDEX}{LEADS}(?P<value>{_VALUE})",
        _named,
        labelled=True,
    ),
    Recogniser(
        "phone",
        rf"(?i){_WORDS_OF_OTHER_SCRIPTS}[{WHITE}.:=|\-]{{0,8}}[\"']?[{WHITE}]?[\"']?(?P<value>{_VALUE})",
        _named_in_another_script,
        labelled=True,
    ),
    Recogniser(
        "phone",
        rf"(?i)(?:{_PLURALS}|{_WORDS}[ _\-]?(?:numbers|nummern|nos|nrs){PAST}?){LEADS}"
        rf"(?P<value>{_VALUE}(?:{NEXT}{_VALUE})*)",
        _each_named,
        labelled=True,
    ),
)
