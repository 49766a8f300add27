"""The form of an encrypted payload, and what is said of one that does not open."""

from __future__ import annotations

from typing import Final

from durable_memory.memory.errors import MemoryUndecryptable

_BEGIN: Final = "enc:1:"
"""Then the id of the key and, after another colon, base64. A plain payload is a JSON object."""


def is_sealed(payload: str) -> bool:
    """Tells whether a payload is encrypted."""
    return payload.startswith(_BEGIN)


def seal_of(payload: str) -> str:
    """Returns what is the same of all payloads that one key has encrypted; nothing for a plain one."""
    return f"{_BEGIN}{parts_of(payload)[0]}" if is_sealed(payload) else ""


def sealed_payload(key_id: str, encoded: str) -> str:
    """Returns the payload of what was sealed under a key, by its base64."""
    return f"{_BEGIN}{key_id}:{encoded}"


def parts_of(payload: str) -> tuple[str, str]:
    """Returns the id of the key, and the base64 of what was sealed."""
    key_id, _, encoded = payload[len(_BEGIN) :].partition(":")
    return key_id, encoded


def missing_key(message_id: str, payload: str) -> MemoryUndecryptable:
    """Says which key a process needs to read this message."""
    return MemoryUndecryptable(
        f"the record of message {message_id} is encrypted with key {parts_of(payload)[0]!r}, which this process "
        "does not have: add it to DURABLE_MEMORY_ENCRYPTION_KEYS"
    )


def not_opened(message_id: str, payload: str) -> MemoryUndecryptable:
    """Says why a message may not open although its key is known by name."""
    return MemoryUndecryptable(
        f"the record of message {message_id} does not open with key {parts_of(payload)[0]!r}: the key is not the "
        "one that wrote it, or the record was changed, or moved here from another memory"
    )
