"""The in-memory store: the whole protocol in one process, each method one step that never awaits."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from durable_memory.memory.clock import Clock, SystemClock
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.in_memory.answers import absent_stats, flushed, repeated, stats_of
from durable_memory.memory.stores.in_memory.appending import apply_append, plan_append
from durable_memory.memory.stores.in_memory.deleting import remove_groups
from durable_memory.memory.stores.in_memory.flushing import (
    busy_for_ms,
    note_batch,
    replace_by_summary,
    select,
    stored_batch,
)
from durable_memory.memory.stores.in_memory.index import InMemoryProjectIndex
from durable_memory.memory.stores.in_memory.operations import KEPT_AFTER_DEADLINE_MS
from durable_memory.memory.stores.in_memory.shelves import Shelf, Shelves
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.in_memory.values import Lease
from durable_memory.memory.stores.in_memory.viewing import read_view
from durable_memory.memory.stores.port import (
    ABSENT,
    Backend,
    Batch,
    BatchPage,
    Begun,
    Entry,
    Operation,
    ReadQuery,
    Stopped,
    Store,
    StoredEntry,
    StoredView,
)
from durable_memory.memory.types import (
    AppendResult,
    ClearResult,
    DeleteResult,
    FlushResult,
    MemoryStats,
)

_PAGE: Final = 200
"""Messages on a page of a batch."""


class InMemoryStore(Store):
    """Keeps memories in this process, for tests and trying out. See Store for the methods.

    Safe under concurrent use by the tasks of one event loop, since no method awaits. What comes out is immutable or a
    copy.

    Args:
        clock: the time of deadlines, leases and expiry.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._shelves = Shelves()

    async def append(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits
    ) -> AppendResult:
        """See Store."""
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        ids = shelf.operations.answered("append", operation, now)
        if isinstance(ids, tuple):
            return repeated(ids, shelf.state, limits)
        state = shelf.state or MemoryState(secrets.token_hex(8), now)
        result = _fill(shelf, state, entries, operation, limits, memory.resource, now)
        shelf.operations.record("append", operation, result.ids)
        return result

    async def write(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits, if_version: str | None
    ) -> AppendResult:
        """See Store."""
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        ids = shelf.operations.answered("write", operation, now)
        if isinstance(ids, tuple):
            return repeated(ids, shelf.state, limits)
        old = shelf.state
        _check_version(old, if_version, memory.resource)
        # The replacement is filled beside the old state, so a refusal leaves that as it was.
        state = MemoryState(secrets.token_hex(8), now) if old is None else old.successor()
        result = _fill(shelf, state, entries, operation, limits, memory.resource, now)
        shelf.operations.record("write", operation, result.ids)
        return replace(result, removed=_size(old))

    async def read(self, memory: MemoryId, query: ReadQuery, limits: Limits) -> StoredView:
        """See Store."""
        state = self._shelves.state(memory, self._clock.now_ms())
        if state is None:
            return StoredView((), 0, ABSENT, 0, 0, flush_due=False)
        view = read_view(state, query, limits, memory.resource)
        _access(state, query.ids or (), limits)
        return view

    async def find(self, memory: MemoryId, ids: Sequence[str]) -> tuple[StoredEntry, ...]:
        """See Store."""
        state = self._shelves.state(memory, self._clock.now_ms())
        if state is None:
            return ()
        held = (
            entry for one in ids if (group := state.find(one)) for entry in group.entries.values() if entry.id == one
        )
        return tuple(held)

    async def touch(self, memory: MemoryId, ids: Sequence[str], limits: Limits) -> tuple[str, ...]:
        """See Store."""
        state = self._shelves.state(memory, self._clock.now_ms())
        return () if state is None else _access(state, ids, limits)

    async def delete(self, memory: MemoryId, ids: Sequence[str], operation: Operation, limits: Limits) -> DeleteResult:
        """See Store."""
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        answer = shelf.operations.answered("delete", operation, now)
        if isinstance(answer, DeleteResult):
            return replace(answer, covered=dict(answer.covered))
        shelf.operations.check_room()
        state = shelf.state
        if state is None:
            result = DeleteResult((), tuple(dict.fromkeys(ids)))
        else:
            result = remove_groups(state, ids, _until(shelf, operation.deadline_ms))
            if result.removed:
                state.changed(_tag(operation.id), now)
                state.written(now, limits)
        shelf.operations.record("delete", operation, result)
        return replace(result, covered=dict(result.covered))

    async def clear(self, memory: MemoryId, operation: Operation, if_version: str | None = None) -> ClearResult:
        """See Store."""
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        answer = shelf.operations.answered("clear", operation, now)
        if isinstance(answer, ClearResult):
            return answer
        _check_version(shelf.state, if_version, memory.resource)
        shelf.operations.check_room()
        result = ClearResult(_size(shelf.state))
        shelf.state = None
        shelf.operations.record("clear", operation, result)
        return result

    async def begin(
        self, memory: MemoryId, owner: str, *, batch_id: str, force: bool, attempt_ends_ms: int, limits: Limits
    ) -> Begun:
        """See Store."""
        now = self._clock.now_ms()
        if now > attempt_ends_ms:
            raise refusals.operation_expired(memory.resource)
        shelf = self._shelves.shelf(memory, now)
        state = shelf.state
        done = shelf.operations.done(owner, now)
        if isinstance(done, FlushResult):
            return replace(done, flush_due=state is not None and state.flush_due(limits))
        if state is None:
            return FlushResult("gone")
        if state.batch is None or state.batch.batch.owner != owner:
            busy_ms = busy_for_ms(state, owner, now, force=force)
            if busy_ms:
                return FlushResult("busy", retry_after_ms=busy_ms)
            selection = select(state, limits, force=force, now_ms=now)
            if not selection.groups:
                return flushed("nothing", state.view, state, limits, reason=selection.blocked)
            state.batch = note_batch(state, selection, owner=owner, batch_id=batch_id, limits=limits)
        state.lease = Lease(owner, now + limits.lease_ms)
        return state.batch.batch

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
        if state.lease_owner(now) not in {None, batch.owner}:
            return False
        state.lease = Lease(batch.owner, now + limits.lease_ms)
        return True

    async def commit(self, memory: MemoryId, batch: Batch, limits: Limits, deadline_ms: int) -> FlushResult:
        """See Store."""
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        state = shelf.state
        operation = Operation(batch.owner, deadline_ms, "")
        answer = shelf.operations.answered("flush", operation, now)
        if isinstance(answer, FlushResult):
            return replace(answer, flush_due=state is not None and state.flush_due(limits))
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
            state, stored, draft, tag=_tag(stored.batch.id), until_ms=_until(shelf, deadline_ms)
        )
        state.changed(_tag(stored.batch.id), now)
        state.last_flush, state.flush_retry_ms = (now, "committed"), 0
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

    async def drop(self, memory: MemoryId, operation: Operation, limits: Limits, *, force: bool) -> FlushResult:
        """See Store."""
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        state = shelf.state
        answer = shelf.operations.answered("drop", operation, now)
        if isinstance(answer, FlushResult):
            return replace(answer, flush_due=state is not None and state.flush_due(limits))
        shelf.operations.check_room()
        result = FlushResult("gone")
        if state is not None:
            before = state.view
            selection = select(state, limits, force=force, now_ms=now)
            removed = tuple(state.id_at(number) for number in selection.numbers)
            for group in selection.groups:
                state.remove(group, _until(shelf, operation.deadline_ms))
            if removed:
                state.changed(_tag(operation.id), now)
                state.last_flush, state.flush_retry_ms = (now, "dropped"), 0
                result = flushed("dropped", before, state, limits, removed_ids=removed)
            else:
                result = flushed("nothing", before, state, limits, reason=selection.blocked)
        shelf.operations.record("drop", operation, result)
        return result

    async def stats(self, memory: MemoryId, limits: Limits) -> MemoryStats:
        """See Store."""
        now = self._clock.now_ms()
        state = self._shelves.state(memory, now)
        return absent_stats(limits) if state is None else stats_of(state, limits, now)

    async def ping(self) -> None:
        """See Store. This store always answers."""

    async def close(self) -> None:
        """See Store. Everything is forgotten."""
        self._shelves.clear()


def open_in_memory(clock: Clock | None = None) -> Backend:
    """Returns a store and an index of this process. clock: the time of deadlines, leases and expiry."""
    clock = clock or SystemClock()
    return Backend(InMemoryStore(clock), InMemoryProjectIndex(clock), "memory of this process")


def _check_version(state: MemoryState | None, wanted: str | None, resource: str) -> None:
    version = ABSENT if state is None else state.version
    if wanted is not None and wanted != version:
        raise refusals.version_conflict(resource, version, wanted)


def _fill(
    shelf: Shelf,
    state: MemoryState,
    entries: Sequence[Entry],
    operation: Operation,
    limits: Limits,
    resource: str,
    now: int,
) -> AppendResult:
    """Appends to a state that may be new or a replacement, and puts it on the shelf."""
    state.calls.prune(now)
    plan = plan_append(state, entries, limits, resource=resource, now_ms=now)
    shelf.operations.check_room()
    tag = _tag(operation.id)
    until = _until(shelf, operation.deadline_ms)
    ids = apply_append(state, entries, plan, limits, tag=tag, now_ms=now, until_ms=until)
    created = shelf.state is None
    state.changed(tag, now)
    state.written(now, limits)
    shelf.state = state
    view = state.view
    return AppendResult(
        ids,
        state.version,
        view.tokens,
        view.messages,
        evicted=plan.evicted_messages,
        late=sum(plan.late),
        flush_due=state.flush_due(limits),
        created=created,
    )


def _access(state: MemoryState, ids: Sequence[str], limits: Limits) -> tuple[str, ...]:
    """Records an access to each live group once, and returns the ids that are live."""
    live = {
        message_id: group
        for message_id in ids
        if (group := state.find(message_id)) is not None and group.place != "overflow"
    }
    for group in {group.number: group for group in live.values()}.values():
        state.access(group, limits)
    return tuple(live)


def _size(state: MemoryState | None) -> int:
    return 0 if state is None else sum(tally.messages for tally in state.tallies.values())


def _until(shelf: Shelf, deadline_ms: int) -> int:
    """How long calls of a group that goes now are remembered: until every operation open now has ended."""
    return max(shelf.operations.last_end_ms, deadline_ms + KEPT_AFTER_DEADLINE_MS)


def _tag(nonce: str) -> str:
    return hashlib.sha256(nonce.encode()).hexdigest()[:4]
