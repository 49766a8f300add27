"""What the YAML parser complains about, in words that say what to change, at the line where to change it."""

from __future__ import annotations

import re
from typing import Final

import yaml

MAX_DEPTH: Final = 30
"""Levels of mappings and lists in a document, at most."""
TOO_DEEP: Final = f"is nested more than {MAX_DEPTH} levels deep"

_NO_INDENT: Final = "is indented like no line above it, or has text behind a closing quote"
_NOT_CLOSED: Final = "has a { or [ that is not closed, or text inside it that needs quotes, such as ${NAME}"

_WHERE_IT_BEGAN: Final = (
    ("unexpected end of stream", "has a quote that is never closed"),
    ("expected ',' or", _NOT_CLOSED),
)
"""Parts of complaints, each with what to say, at the line where the parser began to read the text or container."""

_WHERE_IT_ENDED: Final = (
    ("exceeded maximum nesting depth", TOO_DEEP),  # the C parser looks that far ahead
    ("start any token", "has text that begins with @, ` or %: put it in quotes"),
    ("alphabetic or numeric", "has text that begins with * or &: put it in quotes"),
    ("unknown escape", "has a backslash that YAML reads itself: write the text in '…' instead of \"…\""),
    ("document start", "stands behind the end of a document: begin the next one with a line ---"),
    ("comment or line break", "has text behind a | or >: put text that begins with one of them in quotes"),
    ("expected node content", "has a sign of YAML, such as ] or }, where a value should stand: put text in quotes"),
    ("block sequence entries", "begins a list behind its field: write each item on a line of its own, behind a dash"),
    ("expected '-' indicator", "stands among the items of a list without a dash"),
    ("expected key", _NO_INDENT),
    ("block end", _NO_INDENT),
)
"""Parts of complaints, each with what to say, at the line where the parser gave up."""

_TWO_COLONS: Final = re.compile(r"\s*(?:- )?[^\s:'\"#]+:\s+\S.*:(?:\s|$)")
_FIELD: Final = re.compile(r"\s*(?:- )?[^:]+:(?:\s|$)")
_NO_SPACE: Final = re.compile(r"\s*(?:- )?[\w-]+:\S")


def syntax_fault(error: yaml.MarkedYAMLError, text: str) -> tuple[int, str]:
    """Returns the line, from 1, and the problem. Neither the parser's words nor ours repeat what stands there."""
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return 1, "is not valid YAML"
    began = error.context_mark or mark
    # One more than there are: the parser may give up behind the last line.
    lines = [*text.splitlines(), ""]
    here = lines[min(mark.line, len(lines) - 1)]
    complaint = error.problem or error.context or ""
    if "\t" in here[: len(here) - len(here.lstrip())] or here[mark.column : mark.column + 1] == "\t":
        return mark.line + 1, "is indented with a tab; YAML allows only spaces"
    if "mapping values are not allowed" in complaint:
        return _second_colon(lines, min(mark.line, len(lines) - 1))
    if "could not find expected ':'" in complaint:
        return began.line + 1, _no_field(lines[min(began.line, len(lines) - 1)])
    said = [(began.line + 1, problem) for part, problem in _WHERE_IT_BEGAN if part in complaint]
    said += [(mark.line + 1, problem) for part, problem in _WHERE_IT_ENDED if part in complaint]
    # The parser's own words can quote the text around the fault; the part before the quotation is enough.
    words = complaint.splitlines()[0] if complaint else "it cannot be read"
    return said[0] if said else (mark.line + 1, f"is not valid YAML: {words}")


def _second_colon(lines: list[str], number: int) -> tuple[int, str]:
    """Finds out why a colon stands where no field can begin: by itself, or by what the line above lacks."""
    here = lines[number]
    above = next((index for index in range(number - 1, -1, -1) if lines[index].strip()), None)
    if above is not None and _TWO_COLONS.match(here) is None:
        before = lines[above]
        if _FIELD.match(before) is None:
            return above + 1, _no_field(before)
        if len(here) - len(here.lstrip()) > len(before) - len(before.lstrip()):
            return number + 1, "is indented deeper than the line above it, which has a value already"
    return number + 1, "has a colon and a space in its text: put the text in quotes"


def _no_field(line: str) -> str:
    if _NO_SPACE.match(line):
        return "needs a space after its colon"
    return "is no field: write its name, a colon, a space and its value"
