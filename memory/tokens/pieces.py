"""Cuts long texts where a tokenizer would cut them anyway, so that the pieces' counts add up exactly."""

from __future__ import annotations

import re
from collections.abc import Iterator

# The patterns of o200k_base and cl100k_base never join what is before and after these places: a space after anything
# that is no space; a line end or punctuation after a letter or digit.
_SEAM = re.compile(r"(?<=\S) |(?<=[^\W_])[\n.,;:!?\u3001\u3002\uff0c\uff01\uff1f]")


def pieces(text: str, size: int) -> Iterator[tuple[str, bool]]:
    """Yields pieces of at most `size` characters, each with whether its end is a seam.

    A piece without a seam (a million times one letter) is cut where it is full: counting it apart may differ from
    the whole by a few tokens.
    """
    start = 0
    while len(text) - start > size:
        end, exact = _last_seam(text, start, start + size)
        yield text[start:end], exact
        start = end
    yield text[start:], True


def _last_seam(text: str, start: int, limit: int) -> tuple[int, bool]:
    # Most texts have a seam near the limit; the whole piece is searched only if the last part has none.
    for begin in (max(start + 1, limit - 1_000), start + 1):
        seam = -1
        for match in _SEAM.finditer(text, begin, limit + 1):
            seam = match.start()
        if seam > start:
            return seam, True
    return limit, False
