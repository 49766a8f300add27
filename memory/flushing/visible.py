"""Whether a text shows anything: to a reader, invisible characters alone are an empty text."""

from __future__ import annotations

import unicodedata
from typing import Final

_VISIBLE: Final = frozenset("LNPS")
"""First letters of the Unicode categories of letters, numbers, punctuation and symbols."""

_BLANK: Final = frozenset(
    "\N{HANGUL FILLER}\N{HANGUL CHOSEONG FILLER}\N{HANGUL JUNGSEONG FILLER}\N{HALFWIDTH HANGUL FILLER}"
    "\N{BRAILLE PATTERN BLANK}\N{REPLACEMENT CHARACTER}"
)
"""Letters and symbols by their category that look like space, and what stands for a character that was broken."""


def is_visible(text: str) -> bool:
    """Tells whether a text has one character at least that can be seen."""
    return any(unicodedata.category(one)[0] in _VISIBLE and one not in _BLANK for one in text)
