"""The form of an encrypted payload, and what is said of one that does not open."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from durable_memory.memory.errors import MemoryUndecryptable

_BEGIN: Final = "enc:1:"
"""Then the id of the key and, after another colon, base64. A plain payload is a JSON object."""


def is_sealed(payload: str) -> bool:
    """Tells whether a payload is encrypted."""
    return payload.startswith(_BEGIN)


def write_sealed(key_id: str, sealed: bytes) -> str:
    """Returns the payload of what was sealed under a key."""
    return f"{_BEGIN}{key_id}:{base64.b64encode(sealed).decode()}"


def read_sealed(payload: str) -> tuple[str, bytes]:
    """Returns the id of the key, and what was sealed; nothing of it if it is no base64."""
    key_id, _, encoded = payload.removeprefix(_BEGIN).partition(":")
    try:
        return key_id, base64.b64decode(encoded, validate=True)
    except binascii.Error:
        return key_id, b""


def missing_key(message_id: str, payload: str) -> MemoryUndecryptable:
    """Says which key a process needs to read this message."""
    return MemoryUndecryptable(
        f"the record of message {message_id} is encrypted with key {read_sealed(payload)[0]!r}, which this process "
        "does not have: add it to DURABLE_MEMORY_ENCRYPTION_KEYS"
    )


def not_opened(message_id: str, payload: str) -> MemoryUndecryptable:
    """Says why a message may not open although its key is known by name."""
    return MemoryUndecryptable(
        f"the record of message {message_id} does not open with key {read_sealed(payload)[0]!r}: the key is not the "
        "one that wrote it, or the record was changed, or moved here from another memory"
    )
