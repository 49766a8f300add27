"""Whether a text is blank: to a reader, invisible characters alone are an empty text."""

from __future__ import annotations

import unicodedata
from typing import Final

_VISIBLE: Final = frozenset("LNPS")
"""First letters of the Unicode categories of letters, numbers, punctuation and symbols."""

_LOOKS_BLANK: Final = frozenset(
    "\N{HANGUL FILLER}\N{HANGUL CHOSEONG FILLER}\N{HANGUL JUNGSEONG FILLER}\N{HALFWIDTH HANGUL FILLER}"
    "\N{BRAILLE PATTERN BLANK}\N{REPLACEMENT CHARACTER}"
)
"""Letters and symbols by their category that look like space, and what stands for a character that was broken."""


def is_blank(text: str) -> bool:
    """Tells whether a text has no character that can be seen."""
    return not any(unicodedata.category(one)[0] in _VISIBLE and one not in _LOOKS_BLANK for one in text)
