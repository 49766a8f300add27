"""The shadow of a text: what a reader takes it for, and where each of its characters stands in the original.

Full-width and other scripts' digits, zero-width and combining characters, look-alike letters, and characters written
as escapes hide a secret from a pattern, not from a person. Matching runs on the shadow, cutting on the original.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html.entities import html5
from typing import Final

_ESCAPES: Final = re.compile(
    r"\\{1,4}(?:u(?P<unit>[0-9a-fA-F]{4})|u\{(?P<point>[0-9a-fA-F]{1,6})\}|U(?P<long>[0-9a-fA-F]{8})"
    r"|(?P<space>[nrtvf])|x(?P<byte>[0-9a-fA-F]{2})|(?P<itself>[\"'/]))"
    r"|%(?:25){0,4}(?P<percent>[0-7][0-9a-fA-F])|(?P<utf8>%[c-fC-F][0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){1,3})"
    r"|&(?:amp;){0,4}(?:#(?:[xX](?P<hexadecimal>[0-9a-fA-F]{1,6});|(?P<decimal>[0-9]{1,7});?)"
    r"|(?P<entity>[A-Za-z]{2,10};))"
)
"""How JSON, programs, addresses of the web and HTML write characters; also what was written so several times over.

Bounds on how often keep the search linear.
"""

_UNKNOWN: Final = "\ufffd"
_DROPPED_CATEGORIES: Final = frozenset({"Cf", "Mn", "Me"})
_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0")
_FULL_STOPS: Final = frozenset("\u3002\u06d4\u2024")
_MINUS_SIGNS: Final = frozenset("\u2212\u2043\u30fc\u02d7")
_SPACES: Final = frozenset({"Zs", "Zl", "Zp"})
_SPACERS: Final = frozenset("\u0085\u00b7\u2022\u2219\u22c5\u2027\u30fb")
"""An end of line that Unicode counts among the control characters, and dots that part groups."""

_CYRILLIC: Final = (
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u051b\u051d"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
)
_GREEK: Final = "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03bd"
_LOOK_ALIKES: Final = dict(
    zip(_CYRILLIC + _GREEK, "aeopcyxijsdhqw" + "ABEKMHOPCTYXIJS" + "ABEZHIKMNOPTYXov", strict=True)
)
"""Letters that are drawn like Latin ones."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """A text to match on, and for each of its characters where it stands in the original."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def in_original(self, start: int, end: int) -> tuple[int, int]:
        """Returns where the characters from `start` to before `end` (at least one) stand in the original."""
        return self.starts[start], self.ends[end - 1]


def folded(text: str, *, letters: bool) -> Shadow | None:
    """Returns the shadow of `text`, or None if it is the text itself.

    letters: letters of other scripts that look like Latin ones become these. Right for what is written in Latin letters
    by definition, wrong for a pattern that somebody wrote in Russian.
    """
    table = _WITH_LETTERS if letters else _WITHOUT_LETTERS
    # Most texts are their own shadow, also those with accents, and the set of their characters is small.
    if not _has_escapes(text) and (text.isascii() or all(table[character] == character for character in set(text))):
        return None
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for character, start, end in _characters(text):
        for one in table[character]:
            characters.append(one)
            starts.append(start)
            ends.append(end)
    shadow = "".join(characters)
    return None if shadow == text else Shadow(shadow, starts, ends)


def _has_escapes(text: str) -> bool:
    # Each begins with one of these, and to look for them takes a hundredth of the time of the expression.
    return ("\\" in text or "%" in text or "&" in text) and _ESCAPES.search(text) is not None


def _characters(text: str) -> Iterator[tuple[str, int, int]]:
    """Yields what stands for a character, escapes as the character that they stand for, with its place."""
    position = 0
    for escape in _ESCAPES.finditer(text):
        for index in range(position, escape.start()):
            yield text[index], index, index + 1
        yield _unescaped(escape), escape.start(), escape.end()
        position = escape.end()
    for index in range(position, len(text)):
        yield text[index], index, index + 1


def _unescaped(escape: re.Match[str]) -> str:
    kind = str(escape.lastgroup)
    written = escape[kind]
    if kind == "space":
        return " "
    if kind == "itself":
        return written
    if kind == "entity":
        return _one_character(html5.get(written, ""))
    if kind == "utf8":
        return _one_character(bytes.fromhex(written.replace("%", "")).decode(errors="replace"))
    code = int(written, 10 if kind == "decimal" else 16)
    valid = 0 < code < 0xD800 or 0xDFFF < code < 0x110000  # noqa: PLR2004 - surrogates and the end of Unicode
    return chr(code) if valid else _UNKNOWN


def _one_character(written: str) -> str:
    return written if len(written) == 1 else _UNKNOWN


class _Fold(dict[str, str]):
    """What a character is taken for, worked out when it is first met."""

    def __init__(self, look_alikes: dict[str, str]) -> None:
        super().__init__(look_alikes)

    def __missing__(self, character: str) -> str:
        folded_to = self[character] = _fold(character)
        return folded_to


def _fold(character: str) -> str:
    if character.isascii():
        return character
    if character in _FILLERS or unicodedata.category(character) in _DROPPED_CATEGORIES:
        return ""
    return "".join(map(_as_ascii, unicodedata.normalize("NFKC", character)))


def _as_ascii(character: str) -> str:
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    category = unicodedata.category(character)
    if category == "Pd" or character in _MINUS_SIGNS:
        return "-"
    if category in _SPACES or character in _SPACERS:
        return " "
    return "." if character in _FULL_STOPS else character


_WITH_LETTERS: Final = _Fold(_LOOK_ALIKES)
_WITHOUT_LETTERS: Final = _Fold({})
