"""Hashes under a secret, which stand for memories and operations where their names must not."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.identity import MemoryId


@dataclass(slots=True)
class _Hashing:
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32))


_of_process = _Hashing()


def use_secret(secret: object) -> None:
    """Puts a secret behind the hashes of this process; until then it has one of its own, and nobody else's compare.

    Raises MemoryInvalid for what is no secret.
    """
    # Hashed first, since a key of blake2 has at most 64 bytes.
    _of_process.key = hashlib.sha256(checked_secret(secret).encode()).digest()


def checked_secret(secret: object) -> str:
    """Returns a secret. Raises MemoryInvalid for what is none."""
    if not isinstance(secret, str) or not secret:
        raise MemoryInvalid("telemetry_key: must be text, the same in all processes whose hashes should compare")
    return secret


def memory_hash(memory: MemoryId) -> str:
    """Returns what tells memories apart: a guess at a key cannot be checked against it without the secret."""
    return keyed_hash(memory.project, memory.resource, memory.key)


def keyed_hash(*parts: str) -> str:
    """Returns a hash of texts that nobody can compute without the secret."""
    return hashlib.blake2b(json.dumps(parts).encode(), key=_of_process.key, digest_size=8).hexdigest()
