"""The words of a sentence: how rare they are, and which are values, that is numbers and names."""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final

_MARKS: Final = string.punctuation + "\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb\u00bf\u00a1\u2026\u2013\u2014"
"""What is taken off a word's ends. Inside they stay: 2,150 and 10:30 and INV-3391 are one word each."""

# A Latin, Greek or Cyrillic capital after a word and a space. The look back stands second, where it costs nothing for
# all other letters.
_CAPITAL: Final = r"[A-Z\u00c0-\u00de\u0391-\u03a9\u0410-\u042f]"
_NAME: Final = re.compile(rf"{_CAPITAL}(?<=[^\W\d_] {_CAPITAL})[^\W_]+")
_RUN: Final = re.compile(r"[^\W_]+")
# Scripts that put no spaces between words: Thai to Khmer, Chinese, Japanese, Korean.
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]")

IDENTIFIER: Final = re.compile(r"(?=.*[^\W\d_])(?=.*\d).{4,}|\d{5,}")
"""What names one thing, as WM-40718 does, and neither counts nor dates."""

NAME: Final = "name"
"""The kind of a name."""

_OFTEN: Final = 4
"""A word is a name if it has a capital inside a sentence once in so many times at least; in titles others have one."""

_DIGITS: Final = re.compile(r"\d[\d.,]*")


class Words(dict[str, str]):
    """Splits texts into words; remembers the bare form of each, since most words come again."""

    def of(self, text: str) -> tuple[str, ...]:
        """Returns the words of a text in order, in one case and without the marks around them. Never empty.

        A tuple of text, since the garbage collector, which stops every thread, does not walk through it.
        """
        if not text.isascii() and _UNSPACED.search(text):
            words = tuple(chain.from_iterable(map(_pairs, _RUN.findall(text.casefold()))))
        else:
            words = tuple(map(self.__getitem__, text.casefold().split()))
        # What has no words (an emoji) is one: each unit says something.
        return words or (text,)

    def __missing__(self, written: str) -> str:
        bare = self[written] = written.strip(_MARKS) or written
        return bare


def names_in(texts: Iterable[str]) -> Counter[str]:
    """Returns the words with a capital inside a sentence, in one case, and how often they have it there."""
    return Counter(map(str.casefold, _NAME.findall("\n".join(texts))))


def numbers_in(words: Iterable[str]) -> set[str]:
    """Returns the words with digits."""
    return {word for word in words if not word.isalpha() and any(map(str.isdigit, word))}  # most are letters alone


def kinds_of(
    numbers: AbstractSet[str], names: Mapping[str, int], speakers: Iterable[str], frequency: Mapping[str, int]
) -> dict[str, str]:
    """Returns what each value looks like: 9 for 42.50, wm-9 for WM-40718, NAME. A kind with but one value is none.

    numbers: the words with digits. names: how often a word looked like a name. frequency: how often each word comes.
    """
    kinds = {word: _DIGITS.sub("9", word) for word in numbers}
    named = {word for word, count in names.items() if _OFTEN * count >= frequency.get(word, 0)}
    named.update(word for speaker in speakers for word in Words().of(speaker))
    kinds.update((word, NAME) for word in named & frequency.keys() - kinds.keys())
    count = Counter(kinds.values())
    return {word: kind for word, kind in kinds.items() if count[kind] > 1}


def rarity_of(frequency: Mapping[str, int], units: int) -> dict[str, float]:
    """Returns how rare each word is: the square of its inverse frequency's logarithm, 1 for one that comes once.

    In steps of 1/1024, so that sums are exact and do not depend on the order of a set. units: how many there are.
    """
    most = math.log1p(units)
    of_count = {
        count: round((math.log1p(units / count) / most) ** 2 * 1024) / 1024 for count in set(frequency.values())
    }
    return {word: of_count[count] for word, count in frequency.items()}


def _pairs(word: str) -> list[str]:
    if not _UNSPACED.search(word):
        return [word]
    return [word[at : at + 2] for at in range(len(word) - 1)] or [word]
