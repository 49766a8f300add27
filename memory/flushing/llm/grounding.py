"""Whether a text tells of a conversation, in whatever language: it shares telling words, names or numbers with it.

Telling is a number of two digits and more, which counts as two words, and a word of three letters and more that is not
in every sentence; two words are one if they begin alike, since summaries bend words. Scripts without spaces are taken
in pieces of two or four characters, each part of a word, and of Korean words the first two syllables.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

import regex

from durable_memory.memory.flushing.llm.common_words import COMMON_WORDS

_FEWEST_TO_JUDGE: Final = 5
"""A conversation with fewer telling words, such as `ok` and `thanks`, may be summarised in others."""

_ENOUGH_TO_RETELL: Final = 5
"""A refusal that names its subject shares fewer words with the conversation."""

_ENOUGH_IN_OTHER_LETTERS: Final = 6
"""Telling words of a text in letters that the conversation does not have, as in English of one in Japanese: it may
share nothing, but talk of nothing has fewer."""

_STEM: Final = 5
_PIECES: Final = {"pairs": 2, "fours": 4}
_PAIRED: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\u30fc"
_RUNS: Final = regex.compile(
    rf"(?P<pairs>[{_PAIRED}]+)|(?P<fours>[\p{{Thai}}\p{{Lao}}\p{{Khmer}}\p{{Myanmar}}]+)"
    rf"|(?P<hangul>\p{{Hangul}}{{2}})\p{{Hangul}}*|(?P<number>\p{{Nd}}{{2,}})"
    rf"|(?P<word>(?:(?![{_PAIRED}\p{{Hangul}}])[\p{{L}}\p{{M}}]){{3,}})"
)
_ENDINGS: Final = regex.compile(r"\p{Hiragana}+")


def is_grounded(text: str, record: Iterable[str]) -> bool:
    """Tells whether a text shares something with a conversation, or one of both says too little to be judged.

    record: the texts of the conversation.
    """
    said = _telling(text)
    heard = dict[str, float]()
    for part in record:
        found = _telling(part)
        if not said.keys().isdisjoint(found):
            return True
        heard |= found
    says_much = sum(said.values()) >= _ENOUGH_IN_OTHER_LETTERS
    return sum(heard.values()) < _FEWEST_TO_JUDGE or (says_much and _letters(heard).isdisjoint(_letters(said)))


def retells(text: str, record: Iterable[str]) -> bool:
    """Tells whether much of a text, and at least two thirds of what it says, comes from a conversation."""
    own = _telling(text)
    total = sum(own.values())
    for part in record:
        for stem in _telling(part):
            own.pop(stem, None)
    shared = total - sum(own.values())
    return shared >= _ENOUGH_TO_RETELL and shared * 3 >= total * 2


def _telling(text: str) -> dict[str, float]:
    """Returns what tells something, by its beginning, each with how many words it counts as."""
    return {stem: weight for stem, weight in _stems(text).items() if stem not in _COMMON}


def _stems(text: str) -> dict[str, float]:
    found = dict[str, float]()
    for run in _RUNS.finditer(unicodedata.normalize("NFKC", text).casefold()):
        kind = run.lastgroup or ""
        word = run[kind]
        if size := _PIECES.get(kind):
            pieces = (word[at : at + size] for at in range(len(word) - size + 1))
            found.update((piece, 1 / size) for piece in pieces if not _ENDINGS.fullmatch(piece))
        elif kind == "number":
            found["".join(str(unicodedata.decimal(digit)) for digit in word)] = 2
        else:
            found[word[:_STEM]] = 1
    return found


def _letters(stems: Iterable[str]) -> set[str]:
    """Returns which letters words are written in, as Unicode begins their names with: `LATIN`."""
    names = {unicodedata.name(first, "").partition(" ")[0] for first in {stem[0] for stem in stems}}
    return {"CJK" if name in ("HIRAGANA", "KATAKANA") else name for name in names} - {"DIGIT"}


_COMMON: Final = frozenset(_stems(COMMON_WORDS))
