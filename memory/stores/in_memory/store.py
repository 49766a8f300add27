"""The in-memory store: the whole protocol in one process, each method one step that never awaits."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace

from durable_memory.memory.clock import Clock, SystemClock
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.append_checks import check_sections
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.in_memory.answers import listed, repeated, stats_of
from durable_memory.memory.stores.in_memory.applying import apply_append
from durable_memory.memory.stores.in_memory.deleting import remove_groups
from durable_memory.memory.stores.in_memory.fleet import InMemoryFleet
from durable_memory.memory.stores.in_memory.flush_steps import InMemoryFlushing
from durable_memory.memory.stores.in_memory.index import InMemoryProjectIndex
from durable_memory.memory.stores.in_memory.key_checks import InMemoryKeyChecks
from durable_memory.memory.stores.in_memory.operations import Kind
from durable_memory.memory.stores.in_memory.pinning import pin_groups
from durable_memory.memory.stores.in_memory.planning import plan_append
from durable_memory.memory.stores.in_memory.removal import InMemoryRemoval
from durable_memory.memory.stores.in_memory.scanning import scan_page
from durable_memory.memory.stores.in_memory.shelves import Shelf, check_version, tag_of, until_ms
from durable_memory.memory.stores.in_memory.spending import InMemorySpending
from durable_memory.memory.stores.in_memory.starts import InMemoryStarts
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.in_memory.values import OVERFLOW
from durable_memory.memory.stores.in_memory.viewing import read_view, unchanged_view
from durable_memory.memory.stores.values import (
    ABSENT_VIEW,
    Entry,
    Operation,
    ReadQuery,
    ScanPage,
    StoredEntry,
    StoredView,
    absent_stats,
)
from durable_memory.memory.types import AppendResult, DeleteResult, MemoryStats


class InMemoryStore(InMemoryFlushing, InMemoryRemoval):
    """The Store port in this process, for tests and trying out.

    Safe under concurrent use by the tasks of one event loop, since no method awaits. What comes out is immutable or a
    copy. clock: the time of deadlines, leases and expiry.
    """

    async def append(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits
    ) -> AppendResult:
        """See Store."""
        refusals.check_mode(limits.mode, "append", memory.resource)
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        ids = shelf.operations.answered("append", operation, now)
        if isinstance(ids, tuple):
            return repeated(ids, shelf.state, limits)
        state = shelf.state or MemoryState(secrets.token_hex(8), now)
        result = _fill(shelf, state, entries, operation, limits, memory.resource, now)
        shelf.operations.record("append", operation, result.ids)
        return result

    async def try_append(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits
    ) -> None:
        """See Store."""
        refusals.check_mode(limits.mode, "append", memory.resource)
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        if isinstance(shelf.operations.answered("append", operation, now), tuple):
            return
        state = shelf.state or MemoryState(secrets.token_hex(8), now)
        state.calls.prune(now)
        plan_append(state.obedient(limits, now), entries, limits, resource=memory.resource, now_ms=now)
        shelf.operations.check_room()

    async def write(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits, if_version: str | None
    ) -> AppendResult:
        """See Store."""
        refusals.check_mode(limits.mode, "write", memory.resource)
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        ids = shelf.operations.answered("write", operation, now)
        if isinstance(ids, tuple):
            return repeated(ids, shelf.state, limits)
        old, removed = shelf.state, shelf.messages
        check_sections(memory.resource, entries, limits)
        check_version(old, if_version, memory.resource)
        # The replacement is filled beside the old state, so a refusal leaves that as it was.
        state = MemoryState(secrets.token_hex(8), now) if old is None else old.successor()
        result = _fill(shelf, state, entries, operation, limits, memory.resource, now)
        shelf.operations.record("write", operation, result.ids)
        return replace(result, removed=removed)

    async def read(self, memory: MemoryId, query: ReadQuery, limits: Limits) -> StoredView:
        """See Store."""
        now = self._clock.now_ms()
        state = self._shelves.state(memory, now)
        if state is None:
            return ABSENT_VIEW
        if query.since_version == state.version:
            view = unchanged_view(state, limits)
        else:
            view = read_view(state, query, limits, memory.resource)
            if query.is_access:
                _access(state, query.ids or (), limits, now)
        if limits.refresh_on_read:
            state.was_read(now, limits)
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

    async def scan(self, memory: MemoryId, cursor: str | None, count: int) -> ScanPage:
        """See Store."""
        state = self._shelves.state(memory, self._clock.now_ms())
        return ScanPage((), "", None) if state is None else scan_page(state, cursor, count)

    async def recorded(self, memory: MemoryId, operation_id: str, limits: Limits) -> AppendResult | None:
        """See Store."""
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        ids = shelf.operations.answered("append", Operation(operation_id, now, ""), now)
        return repeated(ids, shelf.state, limits) if isinstance(ids, tuple) else None

    async def touch(self, memory: MemoryId, ids: Sequence[str], limits: Limits) -> tuple[str, ...]:
        """See Store."""
        now = self._clock.now_ms()
        state = self._shelves.state(memory, now)
        return () if state is None else _access(state, ids, limits, now)

    async def pin(
        self, memory: MemoryId, ids: Sequence[str], operation: Operation, limits: Limits, *, pinned: bool
    ) -> tuple[str, ...]:
        """See Store."""
        refusals.check_mode(limits.mode, "pin", memory.resource)
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        kind: Kind = "pin" if pinned else "unpin"
        answer = shelf.operations.answered(kind, operation, now)
        if isinstance(answer, tuple):
            return answer
        shelf.operations.check_room()
        live: tuple[str, ...] = ()
        if shelf.state is not None:
            live, changed = pin_groups(shelf.state, ids, limits, now, pinned=pinned, resource=memory.resource)
            if changed:
                shelf.state.changed(tag_of(operation.id), now)
                shelf.state.written(now, limits)
        shelf.operations.record(kind, operation, live)
        return live

    async def delete(self, memory: MemoryId, ids: Sequence[str], operation: Operation, limits: Limits) -> DeleteResult:
        """See Store."""
        refusals.check_mode(limits.mode, "delete", memory.resource)
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        answer = shelf.operations.answered("delete", operation, now)
        if isinstance(answer, DeleteResult):
            return replace(answer, covered=dict(answer.covered), already_applied=True)
        shelf.operations.check_room()
        state = shelf.state
        if state is None:
            result = DeleteResult((), tuple(dict.fromkeys(ids)))
        else:
            result = remove_groups(state, ids, until_ms(shelf, operation.deadline_ms))
            if result.removed:
                state.changed(tag_of(operation.id), now)
                state.written(now, limits)
        shelf.operations.record("delete", operation, result)
        return replace(result, covered=dict(result.covered))

    async def stats(self, memory: MemoryId, limits: Limits) -> MemoryStats:
        """See Store."""
        now = self._clock.now_ms()
        shelf = self._shelves.shelf(memory, now)
        stats = absent_stats(limits) if shelf.state is None else stats_of(shelf.state, limits, now)
        return replace(stats, backups=listed(shelf.backups))

    async def ping(self) -> None:
        """See Store. This store always answers."""

    async def check_rights(self, memory: MemoryId) -> None:
        """See Store. Nobody lacks one here."""

    async def close(self) -> None:
        """See Store. Everything is forgotten."""
        self._shelves.clear()


def open_in_memory(clock: Clock | None = None) -> Backend:
    """Returns a store and an index of this process. clock: the time of deadlines, leases and expiry."""
    clock = clock or SystemClock()
    return Backend(
        InMemoryStore(clock),
        InMemoryProjectIndex(clock),
        InMemorySpending(clock),
        InMemoryStarts(clock),
        InMemoryFleet(clock),
        InMemoryKeyChecks(),
    )


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
    state.obey(limits, now)
    plan = plan_append(state, entries, limits, resource=resource, now_ms=now)
    shelf.operations.check_room()
    tag = tag_of(operation.id)
    until = until_ms(shelf, operation.deadline_ms)
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


def _access(state: MemoryState, ids: Sequence[str], limits: Limits, now_ms: int) -> tuple[str, ...]:
    """Records an access to each live group once, and returns the ids that are live."""
    live = {
        message_id: group
        for message_id in ids
        if (group := state.find(message_id)) is not None and group.place != OVERFLOW
    }
    for group in {group.number: group for group in live.values()}.values():
        state.access(group, limits, now_ms)
    return tuple(live)
