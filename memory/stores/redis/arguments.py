"""What scripts take, as bytes: limits, operations and entries in the form in which Lua reads them."""

from __future__ import annotations

import hashlib
import math
import re
import struct
from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from durable_memory.memory.access import MODES, Mode
from durable_memory.memory.limits import Limits, PolicyName, Share
from durable_memory.memory.stores.append_checks import check_sections
from durable_memory.memory.stores.redis.forms import LIMITS, PackedLimits
from durable_memory.memory.stores.values import Batch, Entry, Operation, ReadQuery
from durable_memory.memory.types import LONG_TERM, SHORT_TERM, SYSTEM, Section

LETTERS: Final[dict[Section, str]] = {SYSTEM: "s", LONG_TERM: "l", SHORT_TERM: "c"}
"""Those of the built-in sections; a memory gives its user-defined ones letters of their own."""

NO_LIMIT: Final = b"inf"


_RULES: Final[dict[PolicyName, int]] = {"fifo": 0, "lru": 1, "lfu": 2, "priority": 3, "token_aware_lru": 4}
"""The policies, as part_limits.lua tells them apart."""

_FREE_MARKS: Final = "l-hc"
PINNED_MARKS: Final = "LpHC"
"""What stands for the bands 0 to 3 in a record, as part_records.lua reads it."""


def _number(limit: int | None) -> float:
    return math.inf if limit is None else limit


@lru_cache(maxsize=1024)
def packed(limits: Limits) -> bytes:
    """The limits as part_limits.lua unpacks them; what is not limited is infinite. Behind the numbers, the shares."""
    numbers = _as_numbers(
        PackedLimits(
            max_tokens=_number(limits.max_tokens),
            max_messages=_number(limits.max_messages),
            summarize=limits.summarize,
            room_tokens=_number(limits.room_tokens),
            room_messages=_number(limits.room_messages),
            summary_tokens=limits.summary_tokens,
            overflow_tokens=_number(limits.overflow_tokens),
            overflow_messages=_number(limits.overflow_messages),
            due_tokens=_number(limits.due_tokens),
            due_messages=_number(limits.due_messages),
            target_tokens=_number(limits.target_tokens),
            target_messages=_number(limits.target_messages),
            keep_first=limits.keep_first,
            keep_last=limits.keep_last,
            rule=_RULES[limits.policy],
            open_group_ms=limits.open_group_ms,
            ttl_ms=_number(limits.ttl_ms),
            lease_ms=limits.lease_ms,
            mode=MODES.index(limits.mode),
            oldest_share=limits.oldest_share,
        )
    )
    return numbers + _packed_shares(limits.shares) if limits.shares else numbers


def _as_numbers(numbers: Sequence[float]) -> bytes:
    return struct.pack(f">{len(numbers)}d", *numbers)


def _packed_shares(shares: Sequence[Share]) -> bytes:
    """Those of built-in sections as numbers, and the others as text, with their names."""
    of = {share.section: (share.tokens, share.due_tokens, share.target_tokens) for share in shares}
    none = (None, None, None)
    system, *_ = of.get(SYSTEM, none)
    long_term, *_ = of.get(LONG_TERM, none)
    numbers = _as_numbers([*map(_number, (system, long_term, *of.get(SHORT_TERM, none)))])
    named = (
        f"{share.section} {share.tokens} {_number(share.due_tokens)} {_number(share.target_tokens)}"
        for share in shares
        if share.section not in LETTERS
    )
    return numbers + " ".join(named).encode()


@lru_cache(maxsize=1024)
def sections_arg(sections: tuple[Section, ...]) -> bytes:
    """The sections that a read asks for: the letters of built-in ones, then the names of the others."""
    letters = "".join(letter for section, letter in LETTERS.items() if section in sections)
    return " ".join([letters, *(section for section in sections if section not in LETTERS)]).encode()


def read_args(query: ReadQuery, limits: Limits) -> list[bytes]:
    """What a read asks for; letters say which of the arguments behind them are there."""
    letters, more = b"", list[bytes]()
    if query.since_version is not None:
        letters += b"v"
        more.append(query.since_version.encode())
    if query.before_id is not None:
        letters += b"b"
        more.append(query.before_id.encode())
    if query.ids is not None:
        letters += b"ia" if query.is_access else b"i"
        more += [one.encode() for one in query.ids]
    if limits.refresh_on_read:
        letters += b"r"
    return [
        packed(limits),
        NO_LIMIT if query.limit is None else digits(query.limit),
        NO_LIMIT if query.max_tokens is None else digits(query.max_tokens),
        sections_arg(limits.sections if query.sections is None else query.sections),
        letters,
        *more,
    ]


def no_limits(mode: Mode) -> bytes:
    """Limits for a script that looks at none of them but the mode."""
    without = PackedLimits(*(math.inf for _ in LIMITS))
    return _as_numbers(without._replace(mode=MODES.index(mode)))


NO_LIMITS: Final = no_limits("read-write")
"""For scripts that look at no limit: content, draft, fail, find, scan."""


def mark_of(operation_id: str) -> tuple[bytes, str]:
    """Returns what stands for an operation id in the record of operations, and its tag."""
    digest = hashlib.sha256(operation_id.encode("utf-8", "surrogatepass")).digest()
    return digest[:16], digest[:2].hex()


def digest_of(text: str) -> bytes:
    """Returns a digest of an operation's input, short enough for the record; empty for none."""
    return b64encode(hashlib.sha256(text.encode()).digest()[:12]) if text else b""


_PLAIN: Final = re.compile(r"[A-Za-z0-9_.:-]+").fullmatch


def _call_id(call_id: str) -> str:
    """Writes an id of a tool call so that it holds no space, the separator of lists in Redis."""
    return call_id if _PLAIN(call_id) else quote(call_id, safe="_.:-", errors="surrogatepass")


def _relation(letter: str, entry: Entry, result_reserve: int) -> str:
    return f"{letter.upper() if entry.whole else letter}{result_reserve}" if result_reserve else letter


def _head(entry: Entry, result_reserve: int) -> bytes:
    marks, letter = PINNED_MARKS if entry.pinned else _FREE_MARKS, LETTERS.get(entry.section)
    head = f"{letter or 'u'}{marks[entry.band]}{entry.tokens}"
    if letter is None:
        head += f" {entry.section}"
    if entry.answers is not None:
        head += f" {_relation('a', entry, result_reserve)}={_call_id(entry.answers)}"
    elif entry.opens:
        head += f" {_relation('o', entry, result_reserve)}={' '.join(map(_call_id, entry.opens))}"
    return head.encode()


def entry_args(resource: str, entries: Sequence[Entry], limits: Limits) -> list[bytes]:
    """Returns head and payload of each message, in turn.

    Raises MemoryInvalid for a section that is not declared, or that only a commit may write.
    """
    check_sections(resource, entries, limits)
    return [arg for entry in entries for arg in (_head(entry, limits.result_reserve), entry.payload.encode())]


def operation_args(operation: Operation) -> tuple[list[bytes], str]:
    """Returns what names an operation to a script (its mark, digest, deadline and tag), and the tag as text."""
    mark, tag = mark_of(operation.id)
    return [mark, digest_of(operation.digest), digits(operation.deadline_ms), tag.encode()], tag


def thresholds(limits: Limits) -> list[bytes]:
    """Returns when a flush is due, as drop.lua takes it: in tokens, in messages, in tokens of each section."""
    of_sections = (share.due_tokens for share in limits.conversation_shares)
    levels = (limits.due_tokens, limits.due_messages, *of_sections)
    return [NO_LIMIT if level is None else digits(level) for level in levels]


def digits(number: int) -> bytes:
    """Returns a whole number as text."""
    return b"%d" % number


def batch_args(batch: Batch) -> tuple[bytes, bytes, bytes, bytes]:
    """Returns what names a batch in full: incarnation, fence, id of the flush, id of the batch."""
    return batch.incarnation.encode(), digits(batch.fence), batch.flush_id.encode(), batch.id.encode()
