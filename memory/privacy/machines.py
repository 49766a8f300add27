"""Recognisers of addresses of machines: IPv4 and IPv6."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Final

from durable_memory.memory.privacy.entities import Recogniser, Span

_JOINED_BEFORE: Final = re.compile(r"\w$|[0-9][.\-]$", re.ASCII)
_JOINED_AFTER: Final = re.compile(r"\.?[0-9]|[A-Za-z_]|-(?:rc|beta|alpha|dev|snapshot)", re.IGNORECASE)
_WORD: Final = re.compile(r"\w", re.ASCII)
_VERSION_BEFORE: Final = re.compile(
    r"(?:\bv|\b(?:ver|version|release|build|rev|section|chapter)[.:]?[ ]?|"
    r"\b(?:chrome|chromium|firefox|safari|edga?|opr|opera|version|mozilla|applewebkit|trident)/)$",
    re.IGNORECASE,
)
"""Before four numbers with dots these say that it is a version: of a program, or of a browser in its user agent."""

_LOOK_BEHIND: Final = 16
_FEWEST_GROUPS: Final = 3
_LONGEST_IPV6: Final = 45
_KNOWN_NETWORKS: Final = re.compile(
    r"(?:2[0-9a-f]{3}|3f[0-9a-f]{2}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]|ff[0-9a-f]{2}|64):"
)


def _ipv4(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields four numbers up to 255, unless they are part of something longer or named a version."""
    before = text[max(0, start - _LOOK_BEHIND) : start]
    if _JOINED_BEFORE.search(before) or _VERSION_BEFORE.search(before) or _JOINED_AFTER.match(text, end):
        return
    if all(int(number) <= 255 for number in text[start:end].split(".")):  # noqa: PLR2004 - a byte
        yield start, end


def _ipv6(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields an address of a machine; not `::` and `::1`, which are none's and everybody's.

    `a::b` is also a name in C++ and Rust, so a short one must begin as networks do.
    """
    if text[start:end].endswith(":") and not text[start:end].endswith("::"):
        end -= 1  # the colon of the sentence
    if end - start > _LONGEST_IPV6 or _WORD.match(text, max(0, start - 1), start) or _WORD.match(text, end):
        return
    candidate = text[start:end].lower()
    try:
        address = ipaddress.IPv6Address(candidate)
    except ValueError:
        return
    many = sum(map(bool, candidate.split(":"))) >= _FEWEST_GROUPS
    certain = many and any(character.isdigit() for character in candidate)
    if int(address) > 1 and (certain or _KNOWN_NETWORKS.match(candidate) or address.ipv4_mapped is not None):
        yield start, end


MACHINES: Final = (
    Recogniser("ip_address", r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}", _ipv4),
    Recogniser("ip_address", r"(?i)[0-9a-f]{0,4}:[0-9a-f:]*:[0-9a-f:]*(?:\.[0-9]{1,3}){0,3}", _ipv6),
)
