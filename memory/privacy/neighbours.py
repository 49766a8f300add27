"""What stands beside a secret, between its groups, and between a label and its value: parts of patterns.

RE2 has no look-around, and to its word boundary an underscore is a letter. Here only letters and digits hide what is
beside them: `card_4111111111111111.pdf` holds a card.
"""

from __future__ import annotations

import re
from typing import Final

WHITE: Final = r" \t\n\v\f\r"
"""White space, to stand in a class. The `\\s` of RE2 lacks one of them, that of Python has more."""

BREAKS: Final = r"\t\n\v\f\r"
"""White space that parts columns and lines: behind it often stands another number."""

BEGINS: Final = r"(?:^|[^A-Za-z0-9])"
"""Before a number that is no part of a word. It is matched too, so the number is the group `value`."""

MARKUP: Final = r"[*`]{0,2}"
"""Markdown around a group: the last four digits in bold."""

GAP: Final = rf"{MARKUP}(?: - |[{WHITE}._+\-]{{0,2}}){MARKUP}"
"""Between the groups of a number with a checksum. A form of the web writes a space as `+`."""

_TAG: Final = rf"(?:</?[A-Za-z][^<>]{{0,40}}>[{WHITE}]{{0,2}})"
_ATTRIBUTES: Final = r"(?: [A-Za-z][A-Za-z:\-]{0,20}=[\"'][^\"'<>]{0,60}[\"']){1,4} ?>"
_VERB: Final = rf"(?:[{WHITE}](?:is|are|ist|es|est|è)(?:[{WHITE}](?:now|still|currently))?)"
LEADS: Final = (
    rf"(?: ?\([A-Za-z ]{{1,12}}\))?[\"'`*)]{{0,3}}{_VERB}?"
    rf"(?:{_TAG}{{0,3}}[{WHITE}.:=#|>\-]{{1,8}}{_TAG}{{0,3}}|{_TAG}{{1,4}}|{_ATTRIBUTES})"
    rf"[\"'`*\[({{]{{0,3}}[{WHITE}]{{0,2}}[\"'`]?"
)
"""From a label to its value: quotes, Markdown, the bracket of a list, an item of YAML, a cell, tags, `(work)`, `is`."""

PAST: Final = rf"(?:'s|[{WHITE}](?:was|were|will be))"
"""Between the word `number` and its value; a phone was, and a cell will be, also other things."""

NEXT: Final = rf"[\"'`*]{{0,3}}(?:[{WHITE},;&|*\-]|and|or){{1,8}}[\"'`*]{{0,3}}"
"""From one value of a list to the next."""

WORD: Final = re.compile(r"[A-Za-z0-9]")
_BREAK: Final = re.compile(f"[{BREAKS}]")
_CELLS: Final = re.compile(rf"[0-9]+(?: ?[{BREAKS}]{{1,2}}[0-9]+)+")
_CELL_BEFORE: Final = re.compile(rf"[0-9] ?[{BREAKS}]{{1,2}}\Z")
_CELL_AFTER: Final = re.compile(rf" ?[{BREAKS}]{{1,2}}[0-9]++(?![.)] )")  # not the number of an item: `2. `
_JOINED_BEFORE: Final = re.compile(r"[A-Za-z0-9]\Z|[0-9][.\-/]\Z")
_JOINED_AFTER: Final = re.compile(r"[A-Za-z0-9]|[.\-/][0-9]")


def is_alone(text: str, start: int, end: int) -> bool:
    """Tells whether the number is not a part of a longer one, or of a word."""
    return _JOINED_BEFORE.search(text[max(0, start - 2) : start]) is None and _JOINED_AFTER.match(text, end) is None


def has_break(text: str, start: int, end: int) -> bool:
    """Tells whether a tab or the end of a line stands between `start` and `end`."""
    return _BREAK.search(text, start, end) is not None


def is_in_table(text: str, start: int, end: int) -> bool:
    """Tells whether each group has its column or line, and more numbers stand beside them: cells, not one number."""
    if not _CELLS.fullmatch(text, start, end):
        return False
    return bool(_CELL_BEFORE.search(text[max(0, start - 4) : start]) or _CELL_AFTER.match(text, end))
