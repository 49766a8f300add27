"""Whether a text tells of a conversation at all, in whatever language: it shares a word, a name or a number with it.

A refusal, a question back or talk of something else shares only what all sentences share. What says something is a
number, or a word of three letters and more that is not one of those; two words are one if they begin alike, since
summaries bend words. In Chinese and Japanese it is two characters that stand together, in Thai and its neighbours four,
in Korean the first two syllables of a word.

A text in letters that the conversation does not have, as one in English of a conversation in Japanese, may share
nothing. It counts as one about the conversation if it says much.

What begins like a refusal may still be a report, as of a conversation in which somebody declined: then most of what it
says comes from there.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Final

import regex

from durable_memory.memory.flushing.llm.common_words import COMMON_WORDS

_FEWEST_TO_JUDGE: Final = 5
"""A conversation with fewer words that say something, such as `ok` and `thanks`, may be summarised in others."""

_ENOUGH_TO_RETELL: Final = 5
"""Words of a text that come from the conversation, a number of several digits counted twice: a refusal that names its
subject has up to four."""

_ENOUGH_IN_OTHER_LETTERS: Final = 6
"""Words that say something: talk of nothing, or of an error, has fewer of them."""

_WEIGHTS: Final = {"pairs": 1 / 2, "fours": 1 / 4}
"""Of how many words two or four characters count as one that stand together."""

_SHORTEST_WORD: Final = 3
_STEM: Final = 5
_STEM_OF_HANGUL: Final = 2

_RUNS: Final = regex.compile(
    r"(?P<pairs>[\p{Han}\p{Hiragana}\p{Katakana}\u30fc]+)|(?P<fours>[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+)"
    r"|(?P<hangul>\p{Hangul}+)|(?P<number>\p{Nd}+)|(?P<word>(?:(?![\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}])[\p{L}\p{M}])+)"
)
_SENTENCES: Final = regex.compile(r"(?:[^.!?;\n\u3002\uff01\uff1f\uff61\u061f\u0964]|[.!?](?=\S))+")
_WORDS: Final = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]|[\p{L}\p{M}\p{Nd}']+"
)
_SHINGLE: Final = 3
_MOST_UNSAID: Final = 1 / 2
"""Of what stands together in a sentence that the conversation says, too."""

_HIRAGANA: Final = regex.compile(r"\p{Hiragana}+")
_ITEM: Final = regex.compile(r"^\s*\d{1,2}[.)]\s", regex.MULTILINE)
"""The number of an item in a list, which says nothing."""


def is_grounded(text: str, record: Iterable[str]) -> bool:
    """Tells whether a text shares something with what a conversation says, or that says too little to be judged.

    record: the texts of the conversation.
    """
    said = set(_stems(_ITEM.sub("", text)))
    found = set[str]()
    letters = set[str]()
    for part in record:
        for stem in _stems(part):
            if stem in said:
                return True
            if len(found) < _FEWEST_TO_JUDGE:
                found.add(stem)
            letters.add(_letters_of(stem))
    return len(found) < _FEWEST_TO_JUDGE or _says_much(text, letters)


def _says_much(text: str, letters: Collection[str]) -> bool:
    """Tells whether a text says much in other letters than these."""
    said = {(kind, stem) for kind, word in _runs(text) for stem in _stems_of(kind, word) if kind != "number"}
    if any(_letters_of(stem) in letters for _, stem in said):
        return False
    return sum(_WEIGHTS.get(kind, 1) for kind, _ in said) >= _ENOUGH_IN_OTHER_LETTERS


@lru_cache(maxsize=4096)
def _letters_of(stem: str) -> str:
    """Returns the name of the letters that a word is written in, as Unicode begins its names with: `LATIN`."""
    name = unicodedata.name(stem[0], "").partition(" ")[0]
    return "CJK" if name in ("HIRAGANA", "KATAKANA") else name


def retells(text: str, record: Iterable[str]) -> bool:
    """Tells whether much of a text, and at least two thirds of what it says, comes from a conversation.

    record: the texts of the conversation.
    """
    found = {stem for part in record for stem in _stems(part)}
    shared = own = 0
    for kind, word in set(_runs(text)):
        if stems := set(_stems_of(kind, word)):
            weight = 2 if kind == "number" and len(word) > 1 else 1
            if stems.isdisjoint(found):
                own += weight
            else:
                shared += weight
    return shared >= max(_ENOUGH_TO_RETELL, 2 * own)


def without_what_is_said(text: str, record: Iterable[str]) -> str:
    """Returns a text without the sentences that a conversation says in nearly the same words, in the same order.

    record: the texts of the conversation. Sentences without a name, a number or a rare word stay.
    """
    sentences = [(sentence[0], set(_shingles(sentence[0]))) for sentence in _SENTENCES.finditer(text)]
    unsaid = set[tuple[str, ...]]().union(*(shingles for _, shingles in sentences))
    for part in record:
        for sentence in _SENTENCES.finditer(part):
            unsaid.difference_update(_shingles(sentence[0]))
    return ".\n".join(
        sentence
        for sentence, shingles in sentences
        if not any(_stems(sentence)) or len(shingles & unsaid) > len(shingles) * _MOST_UNSAID
    )


def _shingles(sentence: str) -> Iterator[tuple[str, ...]]:
    """Yields three words, or in scripts without spaces three letters, that stand together."""
    words = _WORDS.findall(unicodedata.normalize("NFKC", sentence).replace("\u2019", "'").casefold())
    for at in range(max(1, len(words) - _SHINGLE + 1)):
        yield tuple(words[at : at + _SHINGLE])


def _stems(text: str) -> Iterator[str]:
    for kind, word in _runs(text):
        yield from _stems_of(kind, word)


def _stems_of(kind: str, word: str) -> Iterator[str]:
    """Yields what says something, each word by its beginning."""
    for part in _parts(kind, word):
        if part not in _SAYING_NOTHING:
            yield part[:_STEM] if kind == "word" else part


def _runs(text: str) -> Iterator[tuple[str, str]]:
    """Yields what is written in one go in one kind of script, with that kind."""
    for run in _RUNS.finditer(unicodedata.normalize("NFKC", text).casefold()):
        yield run.lastgroup or "", run[0]


def _parts(kind: str, word: str) -> Iterator[str]:
    if kind == "word":
        if len(word) >= _SHORTEST_WORD:
            yield word
    elif kind == "number":
        yield "".join(str(unicodedata.decimal(digit)) for digit in word)
    elif kind == "hangul":
        if len(word) >= _STEM_OF_HANGUL:
            yield word[:_STEM_OF_HANGUL]
    else:
        size = 2 if kind == "pairs" else 4
        for at in range(len(word) - size + 1):
            together = word[at : at + size]
            if not _HIRAGANA.fullmatch(together):  # endings and particles
                yield together


_SAYING_NOTHING: Final = frozenset(
    part for kind, word in _runs(" ".join(COMMON_WORDS.values())) for part in _parts(kind, word)
)
