"""Who calls: gives a call its operation id and deadline, and what is known of the workflow behind it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Protocol

from durable_memory.memory.clock import Clock
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.types import Provenance

GIVEN_ID_LIFETIME_MS = 24 * 3600 * 1000
"""How long an operation id chosen by a caller is remembered. Also the longest lifetime of any operation."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One mutating call: the operation id of all its attempts, and the Unix time (ms) after which it is refused."""

    operation_id: str
    deadline_ms: int


class Caller(Protocol):
    """Where calls come from."""

    @property
    def owner(self) -> Owner | None:
        """The workflow that owns what is written, if any."""
        ...

    @property
    def workflow_type(self) -> str | None:
        """The type of that workflow, for key templates."""
        ...

    @property
    def provenance(self) -> Provenance | None:
        """What a written message says of its origin."""
        ...

    def next_attempt(self, memory: MemoryId) -> Attempt:
        """Names the next mutating call on a memory.

        A repeated attempt of the same work must get the same names in the same order, whatever it does to others.
        """
        ...


class ProcessCaller:
    """A script or service outside Temporal: each call is an operation of its own, unless the caller gives an id."""

    owner: Owner | None = None
    workflow_type: str | None = None
    provenance: Provenance | None = None

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def next_attempt(self, memory: MemoryId) -> Attempt:  # noqa: ARG002 - no two calls are one here
        """See Caller."""
        return Attempt(secrets.token_hex(16), self._clock.now_ms() + GIVEN_ID_LIFETIME_MS)


def given_attempt(operation_id: str, clock: Clock) -> Attempt:
    """Names a call whose id the user chose; the prefix keeps chosen ids apart from those made here."""
    return Attempt(f"given:{operation_id}", clock.now_ms() + GIVEN_ID_LIFETIME_MS)
