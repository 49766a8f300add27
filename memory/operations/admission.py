"""Admission: what a caller hands in becomes entries for the store, checked, counted and encoded in this one place."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from durable_memory.memory.clock import Clock
from durable_memory.memory.codec import body_of, encode
from durable_memory.memory.errors import MemoryInvalid, MemoryOversize
from durable_memory.memory.eviction.keywords import RAISED_TO, Keywords
from durable_memory.memory.limits import RESULT_RESERVE
from durable_memory.memory.operations.oversize import cut_message, has_text
from durable_memory.memory.privacy.stage import Privacy
from durable_memory.memory.stores.values import Entry
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.types import InvalidValue, Message, MessageInput, Provenance, as_messages

MAX_MESSAGES = 1000
"""Messages that one append or write may carry."""

MAX_BYTES = 1_500_000
"""Encoded size that one append or write may have. Temporal refuses payloads above 2 MB."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """What was admitted.

    messages: as they will be read, apart from what the store gives. entries: the same for the store. digest: of what
    the caller sent, as far as it may be stored. estimated: how many token counts are estimates. dropped: messages of
    kinds that the resource does not keep. redacted: secrets taken out, by kind.
    """

    messages: tuple[Message, ...]
    entries: tuple[Entry, ...]
    digest: str
    estimated: int
    dropped: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)

    def with_cut(self, position: int, message: Message, entry: Entry) -> Admitted:
        """Returns the same with one message cut. The digest stays: it is of what the caller sent."""
        messages, entries = list(self.messages), list(self.entries)
        messages[position], entries[position] = message, entry
        return replace(self, messages=tuple(messages), entries=tuple(entries))

    def raised(self, keywords: Keywords) -> Admitted:
        """Returns the same with high priority where a keyword stands in the text, unless its own is higher."""
        entries = list(self.entries)
        for position, (message, entry) in enumerate(zip(self.messages, entries, strict=True)):
            if entry.band < RAISED_TO and entry.answers is None and keywords.found_in(message.text):
                entries[position] = replace(entry, band=RAISED_TO)
        return replace(self, entries=tuple(entries))


async def messages_of(value: MessageInput | Sequence[MessageInput], policies: Iterable[Privacy]) -> tuple[Message, ...]:
    """Reads what a caller hands in.

    Raises MemoryInvalid; its text may name keys of the caller's, so each of the policies is applied to it.
    """
    try:
        return as_messages(value)
    except InvalidValue as error:
        text = str(error)
    for privacy in policies:
        text = await privacy.screen_error(text)
    raise MemoryInvalid(text)


@dataclass(frozen=True, slots=True)
class Admission:
    """Checks, counts and encodes what one caller hands in for one memory.

    provenance: what each message says of its origin. agent: signs messages that name no author. privacy: what is taken
    out of them. keywords: raise their priority. truncates: what is too large is cut, not refused.
    """

    clock: Clock
    counter: TokenCounter
    provenance: Provenance | None = None
    agent: str | None = None
    privacy: Privacy | None = None
    keywords: Keywords | None = None
    truncates: bool = False

    async def admit(self, value: MessageInput | Sequence[MessageInput]) -> Admitted:
        """Returns the entries of what is handed in. Raises MemoryInvalid, MemoryRedactionFailed."""
        agent, privacy = self.agent, self.privacy
        messages = await messages_of(value, () if privacy is None else (privacy,))
        if not 1 <= len(messages) <= MAX_MESSAGES:
            raise MemoryInvalid(f"messages: {len(messages):,} messages in one call; send 1 to {MAX_MESSAGES:,}")
        dropped, redacted = 0, _NOTHING
        bodies = None
        if privacy is not None:
            # Before anything else, so that what is taken out enters no digest and no count.
            sent, bodies = messages, [body_of(message) for message in messages]
            screened = await privacy.screen(messages, len(_encoded(bodies)))
            messages, dropped, redacted = screened.messages, screened.dropped, screened.found
            if messages != sent:
                bodies = None
        if agent is not None:
            messages, bodies = tuple(m if m.agent is not None else replace(m, agent=agent) for m in messages), None
        bodies = bodies or [body_of(message) for message in messages]
        # Measured before counting, so that a huge text costs nothing but its encoding.
        encoded = _encoded(bodies)
        digest = hashlib.sha256(encoded).hexdigest()[:32]
        counts = await self.counter.count(messages)
        now_ms, provenance = self.clock.now_ms(), self.provenance
        entries = [
            _marked(encode(message, count, created_ms=now_ms, provenance=provenance, body=body), message)
            for message, count, body in zip(messages, counts, bodies, strict=True)
        ]
        estimated = sum([count.estimated for count in counts])
        admitted = Admitted(messages, tuple(entries), digest, estimated, dropped, redacted)
        return admitted if self.keywords is None else admitted.raised(self.keywords)

    async def cut(self, admitted: Admitted, refusal: MemoryOversize) -> Admitted:
        """Returns the same with the refused message cut, so that it fits. Raises the refusal if that cannot be done.

        If its text cannot be cut that far while results of its group still wait for room, it is first marked `whole`:
        it may fit if it takes what is kept for them.
        """
        position, waiting = refusal.position, refusal.waiting
        if not self.truncates or position is None:
            raise refusal
        entry, message = admitted.entries[position], admitted.messages[position]
        room, cut = entry.tokens - refusal.excess_tokens, None
        shares = 2 if message.tool_calls else waiting + 1
        if shares > 1:
            even = (room + waiting * RESULT_RESERVE) // shares
            cut = await cut_message(message, entry.tokens, min(room, even), self.counter)
        cut = cut or await cut_message(message, entry.tokens, room, self.counter)
        if cut is None:
            if entry.whole or not waiting:
                raise refusal
            return admitted.with_cut(position, message, replace(entry, whole=True))
        message, count = cut
        if message.truncated_from is None:
            message = replace(message, truncated_from=entry.tokens)
        shorter = encode(message, count, created_ms=self.clock.now_ms(), provenance=self.provenance)
        # What was decided from the whole text, such as its priority, stays.
        return admitted.with_cut(position, message, replace(entry, payload=shorter.payload, tokens=shorter.tokens))


_NOTHING: Mapping[str, int] = MappingProxyType({})


def _marked(entry: Entry, message: Message) -> Entry:
    """Marks what belongs to a group and has no text that could be cut."""
    if (entry.opens or entry.answers is not None) and not has_text(message):
        return replace(entry, whole=True)
    return entry


def _encoded(bodies: Iterable[str]) -> bytes:
    """Returns all that is to be stored. Raises MemoryInvalid if that is too much."""
    encoded = "\n".join(bodies).encode()
    size = len(encoded)
    if size > MAX_BYTES:
        raise MemoryInvalid(f"messages: {size:,} bytes in one call; the limit is {MAX_BYTES:,}: send it in parts")
    return encoded
