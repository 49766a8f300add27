"""Recognisers of addresses of machines: IPv4 and IPv6."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Final

from durable_memory.memory.privacy.entities import Recogniser, Span
from durable_memory.memory.privacy.neighbours import WORD

_JOINED_BEFORE: Final = re.compile(r"[A-Za-z0-9]\Z|[0-9][.\-]\Z")
_JOINED_AFTER: Final = re.compile(
    r"\.?[0-9]|[A-Za-z]|[\-_](?:rc|beta|alpha|dev|snapshot|py[23])|_(?:amd64|arm|i[36]86|x86|x64|noarch|all\.)",
    re.IGNORECASE,
)
_QUOTES: Final = r"[\"'*`|>(]{0,3}"
_VERSION_BEFORE: Final = re.compile(
    r"(?:\bv|(?:\b|_|(?-i:(?<=[a-z])(?=V)))(?:ver|versions?|release|build|rev|section|chapter)"
    rf"{_QUOTES} ?[.:=_]?{_QUOTES} ?{_QUOTES}|"
    r"\b(?:chrome|chromium|firefox|safari|edga?|opr|opera|version|mozilla|applewebkit|trident)/)\Z",
    re.IGNORECASE,
)
"""Before four numbers with dots these say that it is a version: of a program, or of a browser in its user agent.

As does behind them what files of programs say: of which stage they are, or for which machine.
"""

_LOOK_BEHIND: Final = 24
_FEWEST_GROUPS: Final = 3
_FEWEST_BEHIND_WORD: Final = 6
_WHOLE: Final = re.compile(r"(?:[a-f]+:)?(?P<address>[0-9a-f]+(?::[0-9a-f]+){7})(?::[0-9]+)?")
"""Eight groups behind a word such as `add:`, or before a port: both might be groups of an address too."""
_PAIRS: Final = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){7}")
"""Eight bytes, as of a network card or a fingerprint."""

_LONGEST_IPV6: Final = 50
"""Eight groups, a word before them, and a port."""

_KNOWN_NETWORKS: Final = re.compile(
    r"(?:2[0-9a-f]{3}|3f[0-9a-f]{2}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]|ff[0-9a-f]{2}|64):"
)


def says_version(before: str) -> bool:
    """Tells whether what stands before four numbers with dots makes a version of them."""
    return _VERSION_BEFORE.search(before) is not None


def _ipv4(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields four numbers up to 255, unless they are part of something longer or named a version."""
    before = text[max(0, start - _LOOK_BEHIND) : start]
    if _JOINED_BEFORE.search(before) or says_version(before) or _JOINED_AFTER.match(text, end):
        return
    if all(int(number) <= 255 for number in text[start:end].split(".")):  # noqa: PLR2004 - a byte
        yield start, end


def _ipv6(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields an address of a machine; not `::` and `::1`, which are none's and everybody's.

    `a::b` is also a name in C++ and Rust, so a short one must begin as networks do. So must one behind a word and a
    colon, unless it is nearly whole: `host:2001:db8::1`, not `line:1:2::3`.
    """
    behind_word = _is_behind_word(text, start)
    span = _without_words(text, start, end, behind_word=behind_word)
    if span is None or span[1] - span[0] > _LONGEST_IPV6:
        return
    candidate = text[slice(*span)].lower()
    address = _parsed(candidate)
    if address is None and (whole := _WHOLE.fullmatch(candidate)):
        span = span[0] + whole.start("address"), span[0] + whole.end("address")
        candidate = whole["address"]
        address = _parsed(candidate)
    if address is None or int(address) <= 1 or _PAIRS.fullmatch(candidate):
        return
    groups = sum(map(bool, candidate.split(":")))
    fewest = _FEWEST_BEHIND_WORD if behind_word else _FEWEST_GROUPS
    certain = groups >= fewest and any(character.isdigit() for character in candidate)
    if certain or _KNOWN_NETWORKS.match(candidate) or address.ipv4_mapped is not None:
        yield span


def _is_behind_word(text: str, start: int) -> bool:
    """Tells whether the candidate begins within a word, or with the one colon behind it."""
    return WORD.match(text, max(0, start - 1), start) is not None or (text[start] == ":" and text[start + 1] != ":")


def _without_words(text: str, start: int, end: int, *, behind_word: bool) -> Span | None:
    """Returns the candidate without what belongs to the words beside it, None if `::` joins it to one: a name."""
    if behind_word:
        start = text.index(":", start) + 1
        if text[start : start + 1] == ":" and text[start + 1 : start + 2] != ":":
            return None
    if WORD.match(text, end):
        end = text.rindex(":", start, end)
        if text[end - 1] == ":":
            return None
    elif text[end - 1] == ":" and text[end - 2] != ":":
        end -= 1  # the colon of the sentence
    return start, end


def _parsed(candidate: str) -> ipaddress.IPv6Address | None:
    try:
        return ipaddress.IPv6Address(candidate)
    except ValueError:
        return None


MACHINES: Final = (
    Recogniser("ip_address", r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}", _ipv4),
    Recogniser("ip_address", r"(?i)[0-9a-f]{0,4}:[0-9a-f:]*:[0-9a-f:]*(?:\.[0-9]{1,3}){0,3}", _ipv6),
)
