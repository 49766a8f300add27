"""Messages as they are stored: the JSON payload of an entry, written compactly and read tolerantly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from durable_memory.memory.errors import MemoryContractTooNew, MemoryDamaged
from durable_memory.memory.privacy.sealed_payload import is_sealed, missing_key
from durable_memory.memory.stores.values import Entry, StoredEntry, StoredView
from durable_memory.memory.tokens.counter import Count
from durable_memory.memory.types import (
    LONG_TERM,
    PRIORITIES,
    ROLES,
    SECTIONS,
    SHORT_TERM,
    SYSTEM,
    Message,
    Omitted,
    Provenance,
    Section,
    ToolCall,
    View,
)

SCHEMA_VERSION: Final = 1
"""Grows only with a change that older readers would misread; a new field is no such change."""

_TEXTS: Final = frozenset({str, type(None)})
"""The types of a text that may be left out."""

_ROLE_AND_CONTENT: Final = 2
"""Fields that every message has."""

_write: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _no_number(name: str) -> None:
    """Refuses NaN and the infinities, which are not JSON."""
    raise ValueError(name)


_read: Final = json.JSONDecoder(parse_constant=_no_number).decode


def body_of(message: Message) -> str:
    """Returns the JSON text of what the caller gave: the message without what the store gives."""
    data = message.given()
    if message.section is not None and message.section not in SECTIONS:
        data["section"] = message.section
    if len(data) == _ROLE_AND_CONTENT and isinstance(message.content, str):
        # As most are: to write its text alone takes half of the time that an object of it takes.
        return f'{{"role":"{message.role}","content":{_write(message.content)}}}'
    return _write(data)


def encode(
    message: Message,
    count: Count,
    *,
    created_ms: int,
    provenance: Provenance | None = None,
    body: str | None = None,
) -> Entry:
    """Makes a message ready to be stored.

    message: what the caller appended; its store-given fields are ignored, except for `truncated_from`. count: its
    tokens, as the model sees it. created_ms: the Unix time when it was accepted. provenance: where it was written, if
    in a workflow. body: `body_of(message)`, where it is at hand.
    """
    # The text of a message may be long, so it is encoded once: the JSON object of the body is reopened and continued.
    body = body_of(message) if body is None else body
    payload = f'{{"v":{SCHEMA_VERSION},{body[1:-1]},"created_at":"{_utc(created_ms)}"'
    if provenance is not None and (where := provenance.to_dict()):
        payload += f',"provenance":{_write(where)}'
    if count.estimated:
        payload += ',"tokens_estimated":true'
    if message.truncated_from is not None:
        payload += f',"truncated_from":{message.truncated_from}'
    return Entry(
        payload=payload + "}",
        section=section_of(message),
        tokens=count.tokens,
        opens=tuple([call.id for call in message.tool_calls]),
        answers=message.tool_call_id,
        pinned=message.pinned,
        band=PRIORITIES.index(message.priority),
    )


def _utc(unix_ms: int) -> str:
    seconds, milliseconds = divmod(unix_ms, 1000)
    return f"{_utc_second(seconds)}.{milliseconds:03}+00:00"


@lru_cache(maxsize=8)
def _utc_second(unix: int) -> str:
    # Kept, as many messages come in a second: its date and zone cost an append more than the rest of the record.
    return datetime.fromtimestamp(unix, UTC).replace(tzinfo=None).isoformat()


def encode_summary(message: Message, count: Count, *, created_ms: int) -> Entry:
    """Makes a summary ready to be stored: a system message in the section `long_term`."""
    entry = encode(message, count, created_ms=created_ms)
    return Entry(payload=entry.payload, section=LONG_TERM, tokens=entry.tokens)


def section_of(message: Message) -> Section:
    """Returns where an appended message stands in the view."""
    if message.role == "system":
        return SYSTEM
    return SHORT_TERM if message.section is None or message.section in SECTIONS else message.section


def decode(entry: StoredEntry) -> Message:
    """Reads a stored entry. Fields that this version does not know are ignored.

    Raises MemoryContractTooNew for a payload of a later schema version, MemoryUndecryptable for an encrypted one where
    the process has no keys, MemoryDamaged for one that is no message.
    """
    try:
        data = _read(entry.payload)
        version = _check_class(data.get("v", SCHEMA_VERSION), int)
        if version > SCHEMA_VERSION:
            raise MemoryContractTooNew(
                f"message {entry.id} has schema version {version}, this process reads up to {SCHEMA_VERSION}: update it"
            )
        return _restore(entry, data)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        if is_sealed(entry.payload):
            raise missing_key(entry.id, entry.payload) from None
        # Without the cause: its text may repeat the content.
        raise MemoryDamaged(
            f"the record of message {entry.id} is no message: something changed it; delete it or clear the memory"
        ) from None


def view_of(stored: StoredView) -> View:
    """Reads a stored view; see decode."""
    return View(
        messages=tuple(decode(entry) for entry in stored.entries),
        tokens=stored.tokens,
        version=stored.version,
        omitted=Omitted(stored.omitted_messages, stored.omitted_tokens),
        flush_due=stored.flush_due,
    )


def _restore(entry: StoredEntry, data: Mapping[str, Any]) -> Message:
    get = data.get
    role, content, priority = data["role"], data["content"], get("priority", "normal")
    if content.__class__ is not str and content is not None:
        content = _parts(content)
    if role not in ROLES:
        raise ValueError
    name, call_id, agent = get("name"), get("tool_call_id"), get("agent")
    calls, metadata, created_at, provenance = get("tool_calls"), get("metadata"), get("created_at"), get("provenance")
    estimated, truncated_from = get("tokens_estimated"), get("truncated_from")
    if not (name is call_id is agent is metadata is estimated is truncated_from is None):
        if not {name.__class__, call_id.__class__, agent.__class__} <= _TEXTS:
            raise ValueError
        _check_class(metadata, dict)
        _check_class(estimated, bool)
        _check_class(truncated_from, int)
    # What is stored was checked and cleaned when it was appended; the constructor would do that again, for a view of
    # 50 messages at half the cost of the whole read.
    message = object.__new__(Message)
    fill = object.__setattr__
    fill(message, "role", role)
    fill(message, "content", content)
    fill(message, "name", name)
    fill(message, "tool_calls", () if calls is None else _calls(calls))
    fill(message, "tool_call_id", call_id)
    fill(message, "pinned", entry.pinned)
    fill(message, "agent", agent)
    fill(message, "metadata", metadata or {})
    fill(message, "id", entry.id)
    fill(message, "section", entry.section)
    fill(message, "tokens", entry.tokens)
    fill(message, "tokens_estimated", bool(estimated))
    fill(message, "created_at", None if created_at is None else _instant(created_at))
    fill(message, "provenance", None if provenance is None else _provenance(provenance))
    fill(message, "truncated_from", truncated_from)
    fill(message, "priority", priority if priority in PRIORITIES else "normal")
    return message


def _check_class(value: Any, wanted: type) -> Any:
    """Returns a field that may be left out. Raises ValueError for one of another type."""
    if value is not None and value.__class__ is not wanted:
        raise ValueError
    return value


def _parts(content: object) -> tuple[Mapping[str, Any], ...]:
    parts: list[Any] = _check_class(content, list)
    for part in parts:
        if part.__class__ is not dict or part.get("type").__class__ is not str:
            raise ValueError
    return tuple(parts)


def _calls(calls: object) -> tuple[ToolCall, ...]:
    return tuple(map(_call, _check_class(calls, list)))


def _call(data: Mapping[str, Any]) -> ToolCall:
    function = data["function"]
    return ToolCall(data["id"], function["name"], function["arguments"])


def _instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError
    return instant


def _provenance(data: Mapping[str, Any]) -> Provenance:
    workflow_id, run_id, activity_id = data.get("workflow_id"), data.get("run_id"), data.get("activity_id")
    if not {workflow_id.__class__, run_id.__class__, activity_id.__class__} <= _TEXTS:
        raise ValueError
    return Provenance(workflow_id, run_id, activity_id)
