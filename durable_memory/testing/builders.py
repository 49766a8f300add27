"""Small factories for limits and entries, so that a test states only the numbers it is about."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.port import NORMAL, Entry, StoredEntry, StoredView
from durable_memory.memory.types import Section

HOUR_MS: Final = 3_600_000

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


def user(text: str, tokens: int = 10, *, pinned: bool = False, band: int = NORMAL) -> Entry:
    """A message of the conversation."""
    return Entry(_payload("user", text), "short_term", tokens, pinned=pinned, band=band)


def system(text: str, tokens: int = 10) -> Entry:
    """A system message."""
    return Entry(_payload("system", text), "system", tokens)


def call(text: str, *call_ids: str, tokens: int = 10, pinned: bool = False, band: int = NORMAL) -> Entry:
    """An assistant's message that makes tool calls: it opens a group."""
    return Entry(_payload("assistant", text), "short_term", tokens, opens=call_ids, pinned=pinned, band=band)


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
    counted: dict[Section, int] = {"system": 0, "long_term": 0, "short_term": 0}
    for entry in view.entries:
        counted[entry.section] += entry.tokens
    return counted


def _payload(role: str, text: str) -> str:
    return json.dumps({"role": role, "content": text}, ensure_ascii=False)
