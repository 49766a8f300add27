"""The door: what a caller hands in becomes entries for the store, checked, counted and encoded in this one place."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from durable_memory.memory.clock import Clock
from durable_memory.memory.codec import body_of, encode
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.stores.port import Entry
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.types import InvalidValue, Message, MessageInput, Provenance, as_messages

MAX_MESSAGES = 1000
"""Messages that one append or write may carry."""

MAX_BYTES = 1_500_000
"""Encoded size that one append or write may have. Temporal refuses payloads above 2 MB."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """What passed the door.

    messages: as they will be read, apart from what the store gives. entries: the same for the store. digest: of what
    the caller sent. estimated: how many token counts are estimates.
    """

    messages: tuple[Message, ...]
    entries: tuple[Entry, ...]
    digest: str
    estimated: int


class Door:
    """Checks, counts and encodes what is to be stored."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def admit(
        self,
        value: MessageInput | Sequence[MessageInput],
        counter: TokenCounter,
        *,
        provenance: Provenance | None = None,
        agent: str | None = None,
    ) -> Admitted:
        """Returns the entries of `value`, with their tokens by `counter`. `agent` signs messages that name no author.

        Raises MemoryInvalid.
        """
        try:
            messages = as_messages(value)
        except InvalidValue as error:
            raise MemoryInvalid(str(error)) from None
        if not 1 <= len(messages) <= MAX_MESSAGES:
            raise MemoryInvalid(f"messages: {len(messages):,} messages in one call; send 1 to {MAX_MESSAGES:,}")
        if agent is not None:
            messages = tuple(m if m.agent is not None else replace(m, agent=agent) for m in messages)
        bodies = [body_of(message) for message in messages]
        # Measured before counting, so that a huge text costs nothing but its encoding.
        encoded = "\n".join(bodies).encode()
        size = len(encoded)
        if size > MAX_BYTES:
            raise MemoryInvalid(f"messages: {size:,} bytes in one call; the limit is {MAX_BYTES:,}: send it in parts")
        digest = hashlib.sha256(encoded).hexdigest()[:32]
        counts = await counter.count(messages)
        now = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)
        entries = tuple(
            encode(message, count, created_at=now, provenance=provenance, body=body)
            for message, count, body in zip(messages, counts, bodies, strict=True)
        )
        return Admitted(messages, entries, digest, sum(count.estimated for count in counts))
