"""Cuts text so that what a reader sees as one character stays whole."""

from __future__ import annotations

import re
import unicodedata

_ZERO_WIDTH_JOINER = "\u200d"
_REGIONAL_INDICATORS = re.compile("[\U0001f1e6-\U0001f1ff]+$")
_LONGEST_CLUSTER = 40
"""Real clusters are shorter (a family of four with skin tones has 11); endless marks must not make a cut endless."""


def cut(text: str, length: int) -> str:
    """Returns the longest start of `text` with at most `length` code points that ends between two characters.

    Empty if not even the first character fits. Combining marks, emoji sequences and flags are not split, but for a run
    of more than 40 code points without a boundary. The rules are those of Unicode's UAX 29 that matter here.
    """
    if len(text) <= length:
        return text
    for end in range(length, length - _LONGEST_CLUSTER, -1):
        if end <= 0:
            return ""
        if not _joined(text, end):
            return text[:end]
    return text[:length]


def _joined(text: str, at: int) -> bool:
    """Tells whether the characters before and after `at` belong together."""
    before, after = text[at - 1], text[at]
    if after.isascii():
        return before == "\r" and after == "\n"
    if _ZERO_WIDTH_JOINER in (before, after):
        return True
    if unicodedata.category(after) in ("Mn", "Me", "Mc") or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if "\U000e0020" <= after <= "\U000e007f":
        return True
    if "\U0001f1e6" <= after <= "\U0001f1ff":
        flags = _REGIONAL_INDICATORS.search(text, max(0, at - _LONGEST_CLUSTER), at)
        return flags is not None and (flags.end() - flags.start()) % 2 == 1
    return False
