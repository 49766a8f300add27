"""The stage before what is counted, digested and stored, and before what is summarised: redaction, kinds not kept."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from durable_memory.memory.errors import MemoryInvalid, MemoryRedactionFailed
from durable_memory.memory.privacy.messages import redact_message, without_kinds
from durable_memory.memory.privacy.redactor import Redactor, TooSlow
from durable_memory.memory.privacy.walk import Walk
from durable_memory.memory.types import LONG_TERM, Message, Role

INLINE_CHARACTERS: Final = 4_000
"""What is redacted on the event loop: a fraction of a millisecond. A thread would cost more than it saves."""

SLICE_CHARACTERS: Final = 32_000
"""About what is redacted at once in a thread: a few milliseconds."""

_log = logging.getLogger(__name__)
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Screened:
    """What may be stored. dropped: messages left out by their kind. found: secrets taken out, by kind."""

    messages: tuple[Message, ...]
    found: Mapping[str, int] = field(default_factory=dict)
    dropped: int = 0


class Privacy:
    """The privacy policy of one resource, ready to be applied. Keeps nothing of what it sees."""

    def __init__(self, resource: str, redactor: Redactor | None, not_kept: Collection[Role]) -> None:
        self._resource = resource
        self._redactor = redactor
        self._not_kept = frozenset(not_kept)

    @property
    def keeps_all_kinds(self) -> bool:
        """Whether messages of every role are stored."""
        return not self._not_kept

    async def screen(self, messages: Sequence[Message], size: int) -> Screened:
        """Returns what may be stored of `messages`.

        size: of all of them, encoded. Raises MemoryRedactionFailed, which names nothing of what was said, and
        MemoryInvalid for texts that would take too long.
        """
        kept = without_kinds(messages, self._not_kept) if self._not_kept else tuple(messages)
        return await self._redacted(kept, len(messages) - len(kept), size)

    async def screen_stored(self, messages: Sequence[Message], size: int) -> Screened:
        """Returns what may be shown to a summariser of messages that are stored, perhaps since before this policy.

        As `screen`, but summaries stay whatever kinds are not kept: they stand for messages of all kinds.
        """
        kept = tuple(
            one
            for message in messages
            for one in ((message,) if message.section == LONG_TERM else without_kinds((message,), self._not_kept))
        )
        return await self._redacted(kept, len(messages) - len(kept), size)

    async def _redacted(self, kept: tuple[Message, ...], dropped: int, size: int) -> Screened:
        redactor = self._redactor
        if redactor is None or not kept:
            return Screened(kept, dropped=dropped)
        walk = Walk(redactor)
        if size <= INLINE_CHARACTERS:
            return Screened(self._guarded(_redact_messages, walk, kept), walk.found, dropped)
        # A hop for each slice: a cancelled caller leaves the thread at most one slice of work.
        done: list[Message] = []
        length = max(1, len(kept) * SLICE_CHARACTERS // size)
        for start in range(0, len(kept), length):
            slice_ = kept[start : start + length]
            done += await asyncio.to_thread(self._guarded, _redact_messages, walk, slice_)
        return Screened(tuple(done), walk.found, dropped)

    async def screen_text(self, text: str) -> tuple[str, Mapping[str, int]]:
        """Returns a text redacted, and what was taken out by kind. Raises as `screen`."""
        redactor = self._redactor
        if redactor is None:
            return text, {}
        walk = Walk(redactor)
        if len(text) <= INLINE_CHARACTERS:
            return self._guarded(Walk.text, walk, text), walk.found
        return await asyncio.to_thread(self._guarded, Walk.text, walk, text), walk.found

    async def screen_error(self, error: str) -> str:
        """Returns the text of an error that may name a field of the caller's, as keys of metadata."""
        return (await self.screen_text(error))[0]

    def _guarded(self, work: Callable[[Walk, _Value], _Value], walk: Walk, value: _Value) -> _Value:
        """Runs `work` and lets no exception of it out: it might hold what was to be taken out."""
        try:
            return work(walk, value)
        except TooSlow as slow:
            raise MemoryInvalid(
                f"{self._resource}: redaction would take too long ({slow}); send less at once, or simplify "
                "privacy_policy.redact_patterns"
            ) from None
        except Exception as error:  # noqa: BLE001 - whatever it was: nothing is stored that was not redacted
            _log.error("redaction failed (%s)", type(error).__name__, extra={"resource": self._resource})
        raise MemoryRedactionFailed(
            f"{self._resource}: redaction failed, so nothing was stored; the log of this worker names the kind of error"
        )


def _redact_messages(walk: Walk, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(redact_message(message, walk) for message in messages)
