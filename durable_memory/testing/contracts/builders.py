"""Small factories for limits and entries, so that a test states only the numbers it is about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from durable_memory.memory.limits import Limits, Share
from durable_memory.memory.stores.values import NORMAL, Entry, StoredEntry, StoredView
from durable_memory.memory.types import SECTIONS, SHORT_TERM, Section

HOUR_MS: Final = 3_600_000

TTL_MS: Final = 2_500
"""A short lifetime, and long enough for the calls before its end on a machine that stands still for a second."""

AFTER_TTL_SECONDS: Final = 2.6

_SUMMARISING: Final = Limits(
    max_tokens=100,
    max_messages=None,
    summarize=True,
    summary_tokens=20,
    overflow_tokens=400,
    overflow_messages=None,
    due_tokens=64,
    due_messages=None,
    target_tokens=40,
    target_messages=None,
    keep_first=0,
    keep_last=0,
    policy="fifo",
    open_group_ms=HOUR_MS,
    ttl_ms=None,
    lease_ms=30_000,
)


def summarising(**changes: Any) -> Limits:
    """A budget of 100 tokens, 20 for summaries: eight messages of 10 fit, seven make a flush due, it leaves four."""
    return replace(_SUMMARISING, **changes)


def dropping(**changes: Any) -> Limits:
    """A budget of 100 tokens that drops: ten messages of 10 fit, eight make a flush due, it leaves four."""
    return replace(
        _SUMMARISING, **{"summarize": False, "summary_tokens": 0, "overflow_tokens": None, "due_tokens": 80, **changes}
    )


_SHARES: Final = (
    Share("system", 30),
    Share("long_term", 50),
    Share("notes", 20, due_tokens=16, target_tokens=10),
    Share("bookings", 40, due_tokens=32, target_tokens=20),
    Share("short_term", 60, due_tokens=48, target_tokens=30),
)


def divided(*, shares: Mapping[str, int] | None = None, **changes: Any) -> Limits:
    """A budget of 200 tokens in fixed parts: 30 for system, 50 for summaries of 20, notes 20, bookings 40, the rest 60.

    A flush is due at four fifths of notes, bookings or short_term, and leaves half. shares: other parts, in tokens.
    """
    parts: tuple[Share, ...] = _SHARES
    if shares is not None:
        parts = tuple(
            Share(name, tokens)
            if name in {"system", "long_term"}
            else Share(name, tokens, due_tokens=tokens * 4 // 5, target_tokens=tokens // 2)
            for name, tokens in shares.items()
        )
    return replace(
        _SUMMARISING, **{"max_tokens": 200, "due_tokens": None, "target_tokens": None, "shares": parts, **changes}
    )


def tiny(**changes: Any) -> Limits:
    """The budget of the protocol's model: 4 tokens, one of them for a summary; 3 make a flush due, it leaves 1."""
    return replace(
        _SUMMARISING,
        **{
            "max_tokens": 4,
            "summary_tokens": 1,
            "overflow_tokens": 8,
            "due_tokens": 3,
            "target_tokens": 1,
            **changes,
        },
    )


def user(
    text: str, tokens: int = 10, *, pinned: bool = False, band: int = NORMAL, section: Section = SHORT_TERM
) -> Entry:
    """A message of the conversation."""
    return Entry(_payload("user", text), section, tokens, pinned=pinned, band=band)


def system(text: str, tokens: int = 10) -> Entry:
    """A system message."""
    return Entry(_payload("system", text), "system", tokens)


def call(
    text: str,
    *call_ids: str,
    tokens: int = 10,
    pinned: bool = False,
    band: int = NORMAL,
    section: Section = SHORT_TERM,
) -> Entry:
    """An assistant's message that makes tool calls: it opens a group."""
    return Entry(_payload("assistant", text), section, tokens, opens=call_ids, pinned=pinned, band=band)


def result(text: str, call_id: str, tokens: int = 10) -> Entry:
    """The result of a tool call."""
    return Entry(_payload("tool", text), "short_term", tokens, answers=call_id)


def summary(text: str, tokens: int = 10) -> Entry:
    """What a summariser returns."""
    return Entry(_payload("assistant", text), "long_term", tokens)


def text_of(entry: Entry | StoredEntry) -> str:
    """The text that an entry was made with."""
    return str(json.loads(entry.payload)["content"])


def texts_of(view: StoredView) -> list[str]:
    """The texts of a view, in its order."""
    return [text_of(entry) for entry in view.entries]


def section_tokens(view: StoredView) -> dict[Section, int]:
    """A recount of the tokens of a view by section."""
    counted: dict[Section, int] = dict.fromkeys(SECTIONS, 0)
    for entry in view.entries:
        counted[entry.section] = counted.get(entry.section, 0) + entry.tokens
    return counted


def _payload(role: str, text: str) -> str:
    return json.dumps({"role": role, "content": text}, ensure_ascii=False)
