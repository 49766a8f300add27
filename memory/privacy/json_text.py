"""Redacts JSON text in place: each string and number alone, so that it stays valid and keeps its layout."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from durable_memory.memory.privacy.labels import Labels, is_name, labels_of, names_among
from durable_memory.memory.types import clean_text

_TOKENS: Final = re.compile(
    r'(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>-?[0-9][0-9.eE+\-]*)|(?P<mark>[{}\[\],])', re.DOTALL
)
"""In text that is known to be valid. Keys are strings before a colon; true, false and null hold nothing."""

_COLON: Final = re.compile(r"\s*:")

ChangeValue = Callable[[str, Labels], str]
"""Takes a value's text and its labels (see labels_of); returns the text to stand there."""

_PAIR: Final = re.compile(r'"[Vv][Aa][Ll](?:[Uu][Ee][Ss]?)?"\s*:')
"""Most texts have no pairs of a name and a value, and are read once."""

ChangeKey = Callable[[str, set[str]], str]
"""Takes a key and those that its object has already; returns the key to stand there."""


def is_json(text: str) -> bool:
    """Tells whether `text` is a JSON object or list."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text, parse_int=_keep, parse_float=_keep)
    except (ValueError, RecursionError):
        return False
    return True


def _keep(number: str) -> str:
    # Python refuses to read the longest whole numbers.
    return number


class _Names:
    """The keys of one object: as they were written, and as they are now."""

    def __init__(self) -> None:
        self._now: dict[str, str] = {}
        self._taken: set[str] = set()

    def renamed(self, key: str, change: ChangeKey) -> str:
        """Returns what stands for `key`; a key that is written twice stays written twice."""
        if key not in self._now:
            self._now[key] = change(key, self._taken)
            self._taken.add(self._now[key])
        return self._now[key]


@dataclass(slots=True)
class _Level:
    """An object or a list. names: the keys of an object; None in a list. above: labels it. labels: label what comes.

    said: what an object says of its value.
    """

    names: _Names | None
    above: Labels
    labels: Labels
    said: Labels = ()


@dataclass(frozen=True, slots=True)
class _Token:
    """A string or a number: where it stands and what it says. labels: of a value. names: of a key, its object's."""

    start: int
    end: int
    text: str
    labels: Labels
    names: _Names | None


def change_json(text: str, value: ChangeValue, key: ChangeKey) -> str:
    """Returns valid JSON text with its values and keys changed; what does not change stays as it was written."""
    kept: list[str] = []
    position = 0
    for token in _tokens(text):
        changed = value(token.text, token.labels) if token.names is None else token.names.renamed(token.text, key)
        if changed != token.text:
            kept += (text[position : token.start], json.dumps(changed, ensure_ascii=False))
            position = token.end
    kept.append(text[position:])
    return "".join(kept)


def replace_within(text: str, spans: Sequence[tuple[int, int]], marker: str) -> str:
    """Returns valid JSON text in which each value that a span touches is the marker. spans: in order."""
    kept: list[str] = []
    position = 0
    waiting = iter(spans)
    span = next(waiting, None)
    for token in _tokens(text):
        while span is not None and span[1] <= token.start:
            span = next(waiting, None)
        if span is None:
            break
        if span[0] < token.end and token.names is None and token.text != marker:
            kept += (text[position : token.start], json.dumps(marker, ensure_ascii=False))
            position = token.end
    kept.append(text[position:])
    return "".join(kept)


def _tokens(text: str) -> Iterator[_Token]:
    said = _said_of_values(text) if _PAIR.search(text) else {}
    levels = [_Level(None, (), ())]
    for token in _TOKENS.finditer(text):
        level = levels[-1]
        if token["mark"] in ("{", "["):
            names = _Names() if token["mark"] == "{" else None
            of_values = said.get(token.start(), ()) if names is not None else level.said
            levels.append(_Level(names, level.labels, level.labels, of_values))
        elif token["mark"] in ("}", "]"):
            levels.pop()
        elif token["string"] is not None and level.names is not None and _COLON.match(text, token.end()):
            key = _said(token["string"])
            level.labels = labels_of(key, level.above, level.said)
            yield _Token(token.start(), token.end(), key, (), level.names)
        elif token["mark"] is None:
            if token["number"] is not None:
                labels = tuple(label for label in level.labels if label not in level.said)
                yield _Token(token.start(), token.end(), token["number"], labels, None)
            else:
                yield _Token(token.start(), token.end(), _said(token["string"]), level.labels, None)


def _said_of_values(text: str) -> dict[int, Labels]:
    """Returns what objects say of their values, by where they begin. A name may stand behind its value."""
    fields: dict[int, list[tuple[str, object]]] = {}
    levels: list[int] = []
    key = ""
    for token in _TOKENS.finditer(text):
        if token["mark"] in ("{", "["):
            levels.append(token.start())
            key = ""
        elif token["mark"] in ("}", "]"):
            levels.pop()
        elif token["string"] is not None:
            said = _said(token["string"])
            if _COLON.match(text, token.end()):
                key = said
            elif is_name(key) and text[levels[-1]] == "{":
                fields.setdefault(levels[-1], []).append((key, said))
    return {start: names_among(named) for start, named in fields.items()}


def _said(string: str) -> str:
    # An escape may stand for half of a surrogate pair, which no pattern can be matched on.
    return clean_text(json.loads(string))
