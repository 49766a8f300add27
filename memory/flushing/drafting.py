"""Writes the summary of a batch: what the summariser is given, who writes, and what its text has to hold to."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final, NamedTuple

from durable_memory.memory import codec, telemetry
from durable_memory.memory.clock import Clock
from durable_memory.memory.errors import MESSAGES_STAY, MemoryFault, MemorySummaryRejected, type_of
from durable_memory.memory.flushing.map_reduce import summarize_in_parts
from durable_memory.memory.flushing.summarizer import Summarizer, SummaryRequest
from durable_memory.memory.flushing.summarizers import Chosen
from durable_memory.memory.flushing.summary import covered, summary_message, without_mark
from durable_memory.memory.hashing import memory_hash
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.privacy.stage import Privacy
from durable_memory.memory.stores.values import Entry, StoredEntry
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.types import Message

ATTEMPT_SECONDS: Final = 480.0
"""How long one attempt of a summariser may take, all its requests together: below the ten minutes that activity and
flush have, so that the last one leaves time for the fallback."""

_MARK_SHARE: Final = 1 / 4
"""Of a summary's room: if its first line would take more, the brief one stands there."""

_NOTHING_LEFT: Final = "(of kinds not kept)"
"""The summary of messages whose kinds are not kept any more."""

_log = logging.getLogger(__name__)


class _SummarizerInput(NamedTuple):
    """What a summariser is given of a batch. covers: how many messages of the conversation the batch stands for."""

    messages: tuple[Message, ...]
    covers: int


class Drafting:
    """Turns the content of batches into summaries that are ready to be stored.

    lend: gives who writes the summaries of a memory, for as long as it takes. counter_of: returns what counts its
    tokens. privacy_of: returns what is kept from summarisers and out of summaries.
    """

    def __init__(
        self,
        lend: Callable[[MemoryId], AbstractContextManager[Chosen]],
        counter_of: Callable[[MemoryId], TokenCounter],
        clock: Clock,
        privacy_of: Callable[[MemoryId], Privacy | None] = lambda _: None,
    ) -> None:
        self._lend = lend
        self._counter_of = counter_of
        self._clock = clock
        self._privacy_of = privacy_of

    async def summary_of(
        self, memory: MemoryId, entries: Sequence[StoredEntry], max_tokens: int, *, last_attempt: bool
    ) -> Entry:
        """Returns the summary of these messages, in at most `max_tokens` tokens; errors as of FlushSteps.summarize."""
        source = await self._input(memory, entries)
        with self._lend(memory) as chosen:
            return await self._with_fallback(memory, chosen, source, max_tokens, last_attempt=last_attempt)

    async def _input(self, memory: MemoryId, entries: Sequence[StoredEntry]) -> _SummarizerInput:
        """Returns the messages as the privacy policy in force leaves them; it may be newer than the messages."""
        messages = await asyncio.to_thread(_decoded, entries)
        covers, privacy = covered(messages), self._privacy_of(memory)
        if privacy is None:
            return _SummarizerInput(messages, covers)
        screened = await privacy.screen_stored(messages, sum(len(entry.payload) for entry in entries))
        return _SummarizerInput(screened.messages, covers)

    async def _with_fallback(
        self, memory: MemoryId, chosen: Chosen, source: _SummarizerInput, max_tokens: int, *, last_attempt: bool
    ) -> Entry:
        """Returns the summary, counting each attempt by its outcome."""
        resource = memory.resource
        try:
            summary = await _in_time(self._summary(memory, chosen.summarizer, source, max_tokens))
        except Exception as error:
            telemetry.count_summary(resource, chosen.name, type_of(error))
            final = isinstance(error, MemoryFault) and not error.retryable
            if chosen.fallback is None or not (final or last_attempt):
                raise
            _log.warning(
                "a model wrote no summary, so the rules write it (%s)", _cause(error), extra={"resource": resource}
            )
            summary = await self._summary(memory, chosen.fallback.summarizer, source, max_tokens)
            telemetry.count_summary(resource, chosen.name, "fallback")
            _log_summary(memory, chosen.fallback.name, "fallback")
            return summary
        telemetry.count_summary(resource, chosen.name, "written")
        _log_summary(memory, chosen.name, "written")
        return summary

    async def _summary(
        self, memory: MemoryId, summarizer: Summarizer, source: _SummarizerInput, max_tokens: int
    ) -> Entry:
        counter, covers = self._counter_of(memory), source.covers
        brief = await _tokens(counter, summary_message("", covers, brief=False)) > max_tokens * _MARK_SHARE
        room = max_tokens - await _tokens(counter, summary_message("", covers, brief=brief))
        if room < 1:
            raise MemorySummaryRejected(
                f"a summary may have {max_tokens} tokens here, which its first line alone exceeds; raise summary_tokens"
            )
        text = _NOTHING_LEFT
        if source.messages:
            text = await summarize_in_parts(summarizer, SummaryRequest(source.messages, room, counter))
        message = summary_message(await self._redacted(memory, text), covers, brief=brief)
        count = (await counter.count([message]))[0]
        if count.tokens > max_tokens:
            raise MemorySummaryRejected(
                f"the summary has {count.tokens} tokens, at most {max_tokens} are allowed; {MESSAGES_STAY}"
            )
        return codec.encode_summary(message, count, created_ms=self._clock.now_ms())

    async def _redacted(self, memory: MemoryId, text: str) -> str:
        """Returns a summary without what its resource keeps out: models repeat, join and invent."""
        privacy = self._privacy_of(memory)
        if privacy is None:
            return text
        text, found = await privacy.screen_text(text)
        telemetry.count_redactions(memory.resource, found)
        return text


def _decoded(entries: Sequence[StoredEntry]) -> tuple[Message, ...]:
    return tuple(without_mark(codec.decode(entry)) for entry in entries)


async def _in_time(writing: Awaitable[Entry]) -> Entry:
    """Gives an attempt up that takes too long: it holds the lease, and with it every other flush of this memory."""
    limit = asyncio.timeout(ATTEMPT_SECONDS)
    try:
        async with limit:
            return await writing
    except TimeoutError:
        if not limit.expired():
            raise
        raise MemorySummaryRejected(
            f"the summariser wrote nothing within {ATTEMPT_SECONDS:.0f} s; {MESSAGES_STAY}"
        ) from None


async def _tokens(counter: TokenCounter, message: Message) -> int:
    return (await counter.count([message]))[0].tokens


def _log_summary(memory: MemoryId, summarizer: str, outcome: str) -> None:
    """Says who wrote a summary. outcome: `written`, or `fallback` where somebody else should have."""
    if _log.isEnabledFor(logging.INFO):
        fields = {"resource": memory.resource, "memory_hash": memory_hash(memory)}
        # The text names the resource, too: plain formatters write no fields.
        _log.info(
            "a summary was written for %s",
            memory.resource,
            extra={**fields, "summarizer": summarizer, "outcome": outcome},
        )


def _cause(error: Exception) -> str:
    """Says why a model wrote nothing: our own errors in their words, any other, which may hold content, by type."""
    if not isinstance(error, MemoryFault):
        return type_of(error)
    # That messages stay is true of the attempt: here the rules take them.
    return f"{error.type}: {error.message.removesuffix(f'; {MESSAGES_STAY}')}"
