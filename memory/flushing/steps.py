"""The steps of a flush, the same in every process: begin, summarize, commit; and a whole flush in one call.

Between the steps only the batch travels: its plan and draft live in the store. Each step can be repeated.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import secrets
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from durable_memory.memory import codec, telemetry
from durable_memory.memory.clock import Clock
from durable_memory.memory.errors import MemoryFault, MemoryOperationExpired, MemorySummaryRejected
from durable_memory.memory.flushing.choice import Chosen
from durable_memory.memory.flushing.lease import while_leased
from durable_memory.memory.flushing.parts import checked_summary, summarize_in_parts
from durable_memory.memory.flushing.summarizer import Summarizer, SummaryRequest
from durable_memory.memory.flushing.summary import covered, summary_message
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.privacy.stage import Privacy
from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.values import Batch, Begun, Entry, Operation, Stopped, StoredEntry
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.types import FlushResult, Message

RETRY_AFTER_FAILURE_MS: Final = 2_000
"""How long a failed flush keeps the next one away, so that a broken summariser is not called in a tight loop."""

ATTEMPT_SECONDS: Final = 480.0
"""How long one attempt of a summariser with a fallback may take, all its requests together: below the ten minutes of
the activity, so that the last one leaves time for the fallback."""

_GIVE_BACK_SECONDS: Final = 2.0
_MARK_SHARE: Final = 1 / 4
"""Of a summary's room: if its first line would take more, the brief one stands there."""

_NOTHING_TOLD: Final = "(of kinds not kept)"
"""The summary of messages whose kinds are not kept any more."""

_log = logging.getLogger(__name__)


class _Told(NamedTuple):
    """What a summariser is told of a batch. covers: how many messages of the conversation the batch stands for."""

    messages: tuple[Message, ...]
    covers: int


class Flush:
    """Flushes memories of one store. Belongs to the event loop of its store.

    choose: returns who writes the summaries of a memory. counter_of: returns what counts its tokens. privacy_of:
    returns what summarisers are not told, and what summaries are kept free of.
    """

    def __init__(
        self,
        store: Store,
        choose: Callable[[MemoryId], Chosen],
        counter_of: Callable[[MemoryId], TokenCounter],
        clock: Clock,
        privacy_of: Callable[[MemoryId], Privacy | None] = lambda _: None,
    ) -> None:
        self._store = store
        self._choose = choose
        self._counter_of = counter_of
        self._clock = clock
        self._privacy_of = privacy_of
        self._giving_back: set[asyncio.Task[None]] = set()

    def on(self, store: Store) -> Flush:
        """Returns the same on another face of its store."""
        other = copy.copy(self)
        other._store = store  # noqa: SLF001 - a copy of our own
        return other

    async def begin(
        self,
        memory: MemoryId,
        owner: str,
        *,
        force: bool,
        limits: Limits,
        attempt_ends_ms: int,
        max_messages: int | None = None,
    ) -> Begun:
        """Takes the lease and chooses what to summarise; see Store.begin. Only for memories that summarise."""
        asked = time.perf_counter()
        begun = await self._store.begin(
            memory,
            owner,
            batch_id=secrets.token_hex(8),
            force=force,
            attempt_ends_ms=attempt_ends_ms,
            limits=limits,
            max_messages=max_messages,
        )
        if isinstance(begun, Batch):
            telemetry.record_lease_wait(memory.resource, "taken", time.perf_counter() - asked)
        elif begun.outcome == "busy":
            telemetry.record_lease_wait(memory.resource, "busy", begun.retry_after_ms / 1_000)
        return begun

    async def summarize(
        self, memory: MemoryId, batch: Batch, limits: Limits, *, last_attempt: bool = True
    ) -> Stopped | None:
        """Writes the summary of a batch and stores it as the batch's draft, keeping the lease meanwhile.

        Returns None when the draft is stored, `gone` or `stale` when it has become useless. Raises
        MemoryRedactionFailed before any summariser is asked, MemorySummaryRejected for an empty or too large summary,
        and whatever the summariser raises; of one that has a fallback, only what another attempt may mend.
        last_attempt: there is no other one, so the fallback writes.
        """
        stopped = await while_leased(
            self._store, memory, batch, limits, self._draft(memory, batch, last_attempt=last_attempt)
        )
        if stopped == "stale":
            telemetry.count_lost_lease(memory.resource)
        return stopped

    async def commit(self, memory: MemoryId, batch: Batch, limits: Limits, *, deadline_ms: int) -> FlushResult:
        """Replaces the batch by its draft in one step; see Store.commit."""
        result = await self._store.commit(memory, batch, limits, deadline_ms)
        if result.outcome == "stale":
            telemetry.count_lost_lease(memory.resource)
        return result

    async def fail(self, memory: MemoryId, batch: Batch, *, error_type: str, retry_after_ms: int) -> Stopped | None:
        """Gives batch and lease back; see Store.fail."""
        return await self._store.fail(memory, batch, error_type, retry_after_ms)

    async def run(
        self,
        memory: MemoryId,
        *,
        owner: str,
        limits: Limits,
        force: bool,
        deadline_ms: int,
        max_messages: int | None = None,
    ) -> FlushResult:
        """Runs a whole flush, or drops where the memory drops.

        If it fails, is cancelled or reaches its deadline, batch and lease are given back and nothing has changed. The
        same owner may call it again: once committed, the answer is the result of then.

        Args:
            memory: which memory.
            owner: names this flush in all its attempts, e.g. its operation id; never used for another one.
            limits: of the memory.
            force: ignore threshold and target.
            deadline_ms: Unix time by which it is done or given up.
            max_messages: take no more messages, in whole groups.
        """
        if not limits.summarize:
            operation = Operation(owner, deadline_ms, digest="")
            return await self._store.drop(memory, operation, limits, force=force, max_messages=max_messages)
        beginning = asyncio.create_task(
            self.begin(
                memory,
                owner,
                force=force,
                limits=limits,
                attempt_ends_ms=deadline_ms,
                max_messages=max_messages,
            )
        )
        seconds_left = (deadline_ms - self._clock.now_ms()) / 1_000
        timeout = asyncio.timeout(seconds_left)
        try:
            async with timeout:
                # Shielded: a batch whose begin was cancelled half-way would be held until its lease ends.
                begun = await asyncio.shield(beginning)
                if isinstance(begun, FlushResult):
                    return begun
                stopped = await self.summarize(memory, begun, limits)
                if stopped is not None:
                    # Another attempt of this owner may have committed it; otherwise the store says the same again.
                    return await self._store.commit(memory, begun, limits, deadline_ms)
                return await self.commit(memory, begun, limits, deadline_ms=deadline_ms)
        except (Exception, asyncio.CancelledError) as error:
            await self._give_back(self._fail_begun(memory, beginning, error))
            if isinstance(error, TimeoutError) and timeout.expired():
                raise MemoryOperationExpired(
                    f"a flush of a {memory.resource!r} memory reached its deadline; the messages stay as they are"
                ) from None
            raise

    async def _draft(self, memory: MemoryId, batch: Batch, *, last_attempt: bool) -> Stopped | None:
        entries: list[StoredEntry] = []
        cursor: int | None = 0
        while cursor is not None:
            page = await self._store.content(memory, batch, cursor)
            if isinstance(page, str):
                return page
            entries += page.entries
            cursor = page.cursor
        told = await self._told(memory, entries)
        summary = await self._written(memory, told, batch.summary_max, last_attempt=last_attempt)
        return await self._store.draft(memory, batch, summary)

    async def _told(self, memory: MemoryId, entries: Sequence[StoredEntry]) -> _Told:
        """Returns what a summariser is told: not what a privacy policy keeps out that is younger than the messages."""
        messages = tuple(codec.decode(entry) for entry in entries)
        covers, privacy = covered(messages), self._privacy_of(memory)
        if privacy is None:
            return _Told(messages, covers)
        screened = await privacy.screen_stored(messages, sum(len(entry.payload) for entry in entries))
        return _Told(screened.messages, covers)

    async def _written(self, memory: MemoryId, told: _Told, max_tokens: int, *, last_attempt: bool) -> Entry:
        """Returns the summary, counting each attempt by its outcome."""
        chosen, resource = self._choose(memory), memory.resource
        try:
            async with asyncio.timeout(ATTEMPT_SECONDS if chosen.fallback else None):
                summary = await self._summary(memory, chosen.summarizer, told, max_tokens)
        except Exception as error:
            kind = error.type if isinstance(error, MemoryFault) else type(error).__name__
            telemetry.count_summary(resource, chosen.name, kind)
            final = isinstance(error, MemoryFault) and not error.retryable
            if chosen.fallback is None or not (final or last_attempt):
                raise
            _log.warning(
                "a model wrote no summary, so the rules write it (%s)", _cause(error), extra={"resource": resource}
            )
            summary = await self._summary(memory, chosen.fallback, told, max_tokens)
            telemetry.count_summary(resource, chosen.name, "fallback")
            return summary
        telemetry.count_summary(resource, chosen.name, "written")
        return summary

    async def _summary(self, memory: MemoryId, summarizer: Summarizer, told: _Told, max_tokens: int) -> Entry:
        counter, covers = self._counter_of(memory), told.covers
        brief = await _tokens(counter, summary_message("", covers, brief=False)) > max_tokens * _MARK_SHARE
        room = max_tokens - await _tokens(counter, summary_message("", covers, brief=brief))
        if room < 1:
            raise MemorySummaryRejected(
                f"a summary may have {max_tokens} tokens here, which its first line alone exceeds; raise summary_tokens"
            )
        text = _NOTHING_TOLD
        if told.messages:
            text = checked_summary(await summarize_in_parts(summarizer, SummaryRequest(told.messages, room, counter)))
        message = summary_message(await self._redacted(memory, text), covers, brief=brief)
        count = (await counter.count([message]))[0]
        if count.tokens > max_tokens:
            raise MemorySummaryRejected(
                f"the summary has {count.tokens} tokens, at most {max_tokens} are allowed; the messages stay"
            )
        return codec.encode_summary(
            message, count, created_at=datetime.fromtimestamp(self._clock.now_ms() / 1_000, UTC)
        )

    async def _redacted(self, memory: MemoryId, text: str) -> str:
        """Returns a summary without what its resource keeps out: models repeat, join and invent."""
        privacy = self._privacy_of(memory)
        if privacy is None:
            return text
        text, found = await privacy.screen_text(text)
        telemetry.count_redactions(memory.resource, found)
        return text

    async def _fail_begun(
        self, memory: MemoryId, beginning: asyncio.Task[Begun], error: Exception | asyncio.CancelledError
    ) -> None:
        try:
            begun = await beginning
        except MemoryFault:
            return  # nothing was taken; run reports why
        if not isinstance(begun, Batch):
            return
        cancelled = isinstance(error, asyncio.CancelledError)
        try:
            await self.fail(
                memory,
                begun,
                error_type=type(error).__name__,
                retry_after_ms=0 if cancelled else RETRY_AFTER_FAILURE_MS,
            )
        except MemoryFault as fault:
            # The lease ends by itself; what run reports is why the flush ended.
            _log.warning("the lease of a flush could not be given back (%s)", fault.type)

    async def _give_back(self, work: Coroutine[Any, Any, None]) -> None:
        """Waits for `work`, but not long; it is not stopped by a cancellation of the waiting."""
        task = asyncio.create_task(work)
        self._giving_back.add(task)
        task.add_done_callback(self._giving_back.discard)
        await asyncio.wait((task,), timeout=_GIVE_BACK_SECONDS)


async def _tokens(counter: TokenCounter, message: Message) -> int:
    return (await counter.count([message]))[0].tokens


def _cause(error: Exception) -> str:
    """Says why a model wrote nothing: our own errors in their words, any other, which may hold content, by type."""
    return f"{error.type}: {error.message}" if isinstance(error, MemoryFault) else type(error).__name__
