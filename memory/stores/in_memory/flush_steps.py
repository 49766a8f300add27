"""The flush side of the in-memory store, script by script."""

from __future__ import annotations

from typing import Final

from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.in_memory.answers import flushed, planned, repeated_flush
from durable_memory.memory.stores.in_memory.flushing import (
    busy_for_ms,
    note_batch,
    replace_by_summary,
    select,
    stored_batch,
)
from durable_memory.memory.stores.in_memory.shelves import OnShelves, tag_of, until_ms
from durable_memory.memory.stores.in_memory.values import Lease
from durable_memory.memory.stores.values import Batch, BatchPage, Begun, Entry, FlushOptions, Operation, Stopped
from durable_memory.memory.types import FlushResult

_PAGE: Final = 200
"""Messages on a page of a batch."""


class InMemoryFlushing(OnShelves):
    """The flush scripts of the Store port."""

    async def begin(
        self,
        memory: MemoryId,
        flush_id: str,
        limits: Limits,
        options: FlushOptions,
        *,
        batch_id: str,
        attempt_ends_ms: int,
    ) -> Begun:
        """See Store."""
        refusals.check_mode(limits.mode, "flush", memory.resource)
        now = self._clock.now_ms()
        if now > attempt_ends_ms:
            raise refusals.operation_expired(memory.resource)
        limits = options.chooses_by(limits)
        shelf = self._shelves.shelf(memory, now)
        state = shelf.state
        done = shelf.operations.done(flush_id, now)
        if isinstance(done, FlushResult):
            return repeated_flush(done, state, limits)
        if state is None:
            return FlushResult("gone")
        if state.batch is None or state.batch.batch.flush_id != flush_id:
            busy_ms = busy_for_ms(state, flush_id, now, limits, force=options.force)
            if busy_ms:
                if state.lease is not None:
                    state.lease = state.lease.seen_at(now)
                return FlushResult("busy", retry_after_ms=busy_ms)
            state.obey(limits, now)
            selection = select(state, limits, force=options.force, now_ms=now, max_messages=options.max_messages)
            if selection.takes_nothing:
                return flushed("nothing", state.view, state, limits, reason=selection.blocked)
            state.batch = note_batch(state, selection, flush_id=flush_id, batch_id=batch_id, limits=limits)
        state.lease = Lease(flush_id, now + limits.lease_ms, limits.lease_ms)
        return state.batch.batch

    async def plan(self, memory: MemoryId, limits: Limits, options: FlushOptions) -> FlushResult:
        """See Store."""
        limits = options.chooses_by(limits)
        now = self._clock.now_ms()
        state = self._shelves.state(memory, now)
        if state is None:
            return FlushResult("gone")
        busy_ms = busy_for_ms(state, "", now, limits, force=options.force) if limits.summarize else 0
        if busy_ms:
            return FlushResult("busy", retry_after_ms=busy_ms)
        state = state.obedient(limits, now)
        selection = select(state, limits, force=options.force, now_ms=now, max_messages=options.max_messages)
        if selection.takes_nothing:
            return flushed("nothing", state.view, state, limits, reason=selection.blocked)
        return planned(state, selection, limits)

    async def content(self, memory: MemoryId, batch: Batch, cursor: int) -> BatchPage | Stopped:
        """See Store."""
        state = self._shelves.state(memory, self._clock.now_ms())
        stored = stored_batch(state, batch)
        if state is None or isinstance(stored, str):
            return "gone" if state is None else "stale"
        numbers = (*stored.summaries, *stored.numbers)
        page = numbers[cursor : cursor + _PAGE]
        end = cursor + _PAGE
        entries = tuple(state.where[number].entries[number] for number in page)
        return BatchPage(entries, end if end < len(numbers) else None)

    async def draft(self, memory: MemoryId, batch: Batch, summary: Entry) -> Stopped | None:
        """See Store."""
        stored = stored_batch(self._shelves.state(memory, self._clock.now_ms()), batch)
        if isinstance(stored, str):
            return stored
        stored.draft = summary
        return None

    async def renew(self, memory: MemoryId, batch: Batch, limits: Limits) -> bool:
        """See Store."""
        now = self._clock.now_ms()
        state = self._shelves.state(memory, now)
        if state is None or isinstance(stored_batch(state, batch), str):
            return False
        if state.leased_by(now) not in {None, batch.flush_id}:
            return False
        state.lease = Lease(batch.flush_id, now + limits.lease_ms, limits.lease_ms)
        return True

    async def commit(self, memory: MemoryId, batch: Batch, limits: Limits, deadline_ms: int) -> FlushResult:
        """See Store."""
        refusals.check_mode(limits.mode, "flush", memory.resource)
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        state = shelf.state
        operation = Operation(batch.flush_id, deadline_ms, "")
        answer = shelf.operations.answered("flush", operation, now)
        if isinstance(answer, FlushResult):
            return repeated_flush(answer, state, limits)
        stored = stored_batch(state, batch)
        if state is None or isinstance(stored, str):
            return FlushResult("gone" if state is None else "stale")
        draft = stored.draft
        if draft is None or not draft.payload or draft.tokens <= 0:
            raise refusals.summary_missing(memory.resource)
        if draft.tokens > stored.batch.summary_max:
            raise refusals.summary_too_large(memory.resource, draft.tokens, stored.batch.summary_max)
        before = state.view
        removed, summary_id = replace_by_summary(
            state, stored, draft, tag=tag_of(stored.batch.id), until_ms=until_ms(shelf, deadline_ms)
        )
        state.changed(tag_of(stored.batch.id), now)
        state.last_flush, state.flush_retry_ms = (now, "committed"), 0
        state.note_due_anew(now, limits)
        result = flushed("committed", before, state, limits, removed_ids=removed, summary_id=summary_id)
        shelf.operations.record("flush", operation, result)
        return result

    async def fail(self, memory: MemoryId, batch: Batch, error_type: str, retry_after_ms: int) -> Stopped | None:
        """See Store."""
        now = self._clock.now_ms()
        state = self._shelves.state(memory, now)
        stored = stored_batch(state, batch)
        if state is None or isinstance(stored, str):
            return "gone" if state is None else "stale"
        state.end_batch()
        state.flush_retry_ms = now + retry_after_ms
        state.last_flush = (now, f"failed: {error_type}")
        return None

    async def drop(self, memory: MemoryId, operation: Operation, limits: Limits, options: FlushOptions) -> FlushResult:
        """See Store."""
        refusals.check_mode(limits.mode, "flush", memory.resource)
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        state = shelf.state
        answer = shelf.operations.answered("drop", operation, now)
        if isinstance(answer, FlushResult):
            return repeated_flush(answer, state, limits)
        shelf.operations.check_room()
        result = FlushResult("gone")
        if state is not None:
            before = state.view
            state.obey(limits, now)
            chosen_by = options.chooses_by(limits)
            selection = select(state, chosen_by, force=options.force, now_ms=now, max_messages=options.max_messages)
            removed = tuple(state.id_at(number) for number in selection.numbers)
            for group in selection.groups:
                state.remove(group, until_ms(shelf, operation.deadline_ms))
            if removed:
                state.changed(tag_of(operation.id), now)
                state.last_flush, state.flush_retry_ms = (now, "dropped"), 0
                state.note_due_anew(now, limits)
                result = flushed("dropped", before, state, limits, removed_ids=removed)
            else:
                result = flushed("nothing", before, state, limits, reason=selection.blocked)
        shelf.operations.record("drop", operation, result)
        return result
