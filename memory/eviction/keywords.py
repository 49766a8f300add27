"""Keywords that raise the priority of a message, found as whole words of its text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

import regex

from durable_memory.memory.types import PRIORITIES

RAISED_TO: Final = PRIORITIES.index("high")
"""The band of a message with a keyword, unless its own is higher."""

# Scripts that are written without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han. Each of their characters
# counts as a word, so that a keyword is found inside a sentence.
_SPACELESS: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Unlike that of `re`, this one's \w has the vowel signs of Indic scripts: without them, different words look alike. It
# has all other marks too, and one that stands on a sign and not on a letter begins no word.
_WORD: Final = regex.compile(f"[{_SPACELESS}]|[^\\W\\p{{M}}{_SPACELESS}][^\\W{_SPACELESS}]*")
_INVISIBLE: Final = re.compile("[\u00ad\u180b-\u180d\u180f\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]")
# Such as U+20E3, which makes a keycap of a digit: a picture that ends there.
_ENCLOSING: Final = regex.compile("\\p{Me}")


def words_of(text: str) -> str:
    """Returns the words of a text, each between spaces, without regard to case, width, accents' spelling and signs."""
    return _between_spaces(_folded(text))


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    # Folding may take characters apart again, so they are put together on both sides of it.
    visible = _ENCLOSING.sub(" ", _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)))
    return unicodedata.normalize("NFKC", visible.casefold())


def _between_spaces(folded: str) -> str:
    return f" {' '.join(_WORD.findall(folded))} "


class Keywords:
    """The keywords of one memory resource. One of several words is found where they follow each other."""

    def __init__(self, keywords: Iterable[str]) -> None:
        self._keywords = tuple(dict.fromkeys(map(words_of, keywords)))
        # A text without the longest word of a keyword need not be cut into words.
        self._longest = tuple(dict.fromkeys(max(keyword.split(" "), key=len) for keyword in self._keywords))

    def found_in(self, text: str) -> bool:
        """Tells whether one of the keywords stands in the text."""
        folded = _folded(text)
        if not any(map(folded.__contains__, self._longest)):
            return False
        words = _between_spaces(folded)
        return any(keyword in words for keyword in self._keywords)
