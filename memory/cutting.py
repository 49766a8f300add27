"""Cuts text so that what a reader sees as one character stays whole."""

from __future__ import annotations

from typing import Final

import regex

_CHARACTER: Final = regex.compile(r"\X")
"""An extended grapheme cluster of Unicode's UAX 29."""

_LONGEST: Final = 256
"""In code points. Real clusters are far shorter (a family of four with skin tones has 11); endless marks must not make
a cut endless."""


def cut(text: str, length: int) -> str:
    """Returns the longest start of `text` with at most `length` code points that ends between two characters.

    Empty if not even the first character fits. Combining marks, emoji sequences, flags and syllables are not split, but
    for a run of more than 256 code points without a boundary.
    """
    if len(text) <= length:
        return text
    if length <= 0:
        return ""
    start = _start_of_flags(text, max(0, length - _LONGEST))
    for character in _CHARACTER.finditer(text, start, length + _LONGEST):
        if character.end() == length:
            return text[:length]
        if character.end() > length:
            # A character found at the very start of the search may really have begun before it.
            return text[: character.start()] if character.start() > start or not start else text[:length]
    return text[:length]


def _start_of_flags(text: str, at: int) -> int:
    """Returns where to begin looking for characters: two letters make a flag, so flags are counted from the first."""
    while at and "\U0001f1e6" <= text[at - 1] <= "\U0001f1ff":
        at -= 1
    return at
