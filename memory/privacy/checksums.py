"""Numbers that prove themselves: cards (Luhn, ISO/IEC 7812) and international bank accounts (ISO 13616, mod 97)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from durable_memory.memory.privacy.entities import Span
from durable_memory.memory.privacy.neighbours import GAP, WORD

_SHORTEST_CARD: Final = 14
_LONGEST_CARD: Final = 19
_FIRST_DIGITS: Final = "23456"

_DOUBLED: Final = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
"""Twice a digit, its own digits added."""


def luhn(digits: str) -> bool:
    """Tells whether the last digit is the check digit of the others."""
    numbers = [ord(digit) - 48 for digit in reversed(digits)]
    return (sum(numbers[::2]) + sum(_DOUBLED[number] for number in numbers[1::2])) % 10 == 0


def _of_a_brand(digits: str) -> bool:
    """Tells whether an issuer gives out numbers of this beginning and length."""
    length, two, four = len(digits), int(digits[:2]), int(digits[:4])
    if digits[0] == "4":
        return length in (16, 18, 19)
    if two in (34, 37):
        return length == 15  # noqa: PLR2004 - American Express
    if two in (36, 38, 39) or 3000 <= four <= 3059:  # noqa: PLR2004 - Diners Club
        return 14 <= length <= _LONGEST_CARD  # noqa: PLR2004 - Diners Club
    if 51 <= two <= 55 or 2200 <= four <= 2204 or 2221 <= four <= 2720:  # noqa: PLR2004 - Mastercard, Mir
        return length == 16  # noqa: PLR2004 - Mastercard, Mir
    # JCB, Discover, UnionPay, Maestro, RuPay
    return (3528 <= four <= 3589 or digits[0] == "6" or two in (50, 56, 57, 58)) and length >= 16  # noqa: PLR2004 - ranges of issuers


def cards(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields the card numbers in a run of digits and separators, which may hold other numbers beside them.

    A card begins and ends where a group of digits does; a group that goes on as a word is of no card. Of cards that
    overlap all are yielded: one in ten rows of other numbers passes for one, and may end within the true one.
    """
    groups = list(_groups(text, start, end))
    if WORD.match(text, end):
        groups.pop()
    for index, (begins, _) in enumerate(groups):
        last = _card_at(text, groups, index)
        if last is not None:
            yield begins, groups[last][1]


def _groups(text: str, start: int, end: int) -> Iterator[Span]:
    position = start
    while position < end:
        stop = position
        while stop < end and text[stop].isdigit():
            stop += 1
        if stop > position:
            yield position, stop
        position = stop + 1


def _is_single(group: Span) -> bool:
    return group[1] - group[0] == 1


def _card_at(text: str, groups: list[Span], index: int) -> int | None:
    """Returns the last group of the longest card that begins with group `index`."""
    digits = ""
    last: int | None = None
    single = _is_single(groups[index])
    if text[groups[index][0]] not in _FIRST_DIGITS:
        return None
    for place in range(index, len(groups)):
        if _is_single(groups[place]) != single:
            break  # digits that stand alone and digits that do not are no one number
        digits += text[groups[place][0] : groups[place][1]]
        if len(digits) > _LONGEST_CARD:
            break
        if len(digits) >= _SHORTEST_CARD and _of_a_brand(digits) and luhn(digits):
            last = place
    return last


_COUNTRIES: Final = {
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
"""Countries by how many characters an account number has there: the IBAN registry (SWIFT)."""

_IBAN_LENGTHS: Final = {country: length for length, names in _COUNTRIES.items() for country in names.split()}


def ibans(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields the account number that begins at `start`, however it is grouped, if its checksum is right."""
    length = _IBAN_LENGTHS.get(text[start : start + 2].upper())
    if length is None:
        return
    rest = _rest(length - (end - start)).match(text, end)
    if rest is not None and mod_97("".join(WORD.findall(text, start, rest.end()))):
        yield start, rest.end()


@lru_cache(maxsize=len(_COUNTRIES))
def _rest(length: int) -> re.Pattern[str]:
    # Atomic: gaps may be read in several ways, and in as many would be tried for each that follows.
    return re.compile(rf"(?:(?>{GAP})[A-Za-z0-9]){{{length}}}(?![A-Za-z0-9])")


def mod_97(characters: str) -> bool:
    """Tells whether the two digits after the country are the check digits of the rest."""
    moved = (characters[4:] + characters[:4]).upper()
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1
