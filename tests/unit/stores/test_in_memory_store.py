"""What only the in-memory store promises: nothing aliased, nothing kept beyond its time, one step per call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from durable_memory.memory.clock import ManualClock
from durable_memory.memory.errors import MemoryInvalid, MemoryOperationConflict, MemoryOperationExpired
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.stores.in_memory import InMemoryStore, open_in_memory
from durable_memory.memory.stores.in_memory.calls import Calls
from durable_memory.memory.stores.in_memory.shelves import Shelves
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.values import BACKUP_LIFETIME_MS, Batch, BatchPage, FlushOptions, Operation
from durable_memory.testing.contracts.builders import summarising, summary, user
from durable_memory.testing.contracts.driven import Driven


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory(clock: ManualClock) -> Driven:
    return Driven(InMemoryStore(clock), summarising(), clock=clock)


async def test_two_backends_share_nothing() -> None:
    one, other = open_in_memory(), open_in_memory()
    driven = Driven(one.store, summarising())
    await driven.append(user("a"))
    await one.index.register(driven.memory, None)
    assert not (await other.store.stats(driven.memory, driven.limits)).exists
    assert (await other.index.memories("project", "resource", None, 10)).memories == ()


async def test_answers_are_no_handles_on_what_is_stored(memory: Driven) -> None:
    appended = await memory.append(user("a"), user("b"))
    stats: Any = await memory.store.stats(memory.memory, memory.limits)
    stats.tokens["short_term"] = 0
    stats.messages.clear()
    assert (await memory.store.stats(memory.memory, memory.limits)).tokens["short_term"] == 20
    delete = Operation("delete", memory.clock.now_ms() + 1000, "")
    deleted: Any = await memory.store.delete(memory.memory, appended.ids[:1], delete, memory.limits)
    deleted.covered["x"] = "y"
    again: Any = await memory.store.delete(memory.memory, appended.ids[:1], delete, memory.limits)
    assert again.covered == {}
    again.covered["x"] = "y"
    assert (await memory.store.delete(memory.memory, appended.ids[:1], delete, memory.limits)).covered == {}


async def test_a_list_that_a_caller_goes_on_using_changes_nothing(memory: Driven) -> None:
    entries = [user("a")]
    await memory.store.append(memory.memory, entries, memory.operation(None), memory.limits)
    entries.append(user("b"))
    assert (await memory.store.stats(memory.memory, memory.limits)).messages["short_term"] == 1


async def test_no_call_yields_to_another_task(memory: Driven) -> None:
    other_ran = False

    async def other() -> None:
        nonlocal other_ran
        other_ran = True

    task = asyncio.create_task(other())
    await memory.append(user("a"))
    await memory.store.stats(memory.memory, memory.limits)
    assert not other_ran
    await task


async def test_a_memory_ends_with_its_ttl_but_its_operations_do_not(memory: Driven, clock: ManualClock) -> None:
    memory = memory.under(summarising(ttl_ms=1000))
    first = await memory.append(user("a"), op="append")
    clock.advance(ms=999)
    assert (await memory.store.stats(memory.memory, memory.limits)).exists
    clock.advance(ms=1)
    assert not (await memory.store.stats(memory.memory, memory.limits)).exists
    again = await memory.append(user("a"), op="append")
    assert (again.ids, again.version, again.already_applied) == (first.ids, "absent", True)


async def test_an_operation_is_known_until_a_minute_after_its_deadline(memory: Driven, clock: ManualClock) -> None:
    operation = Operation("one", clock.now_ms() + 1000, "")
    later = Operation("one", clock.now_ms() + 1_000_000, "")
    await memory.store.append(memory.memory, [user("a")], operation, memory.limits)
    clock.advance(ms=61_000)
    assert (await memory.store.append(memory.memory, [user("a")], later, memory.limits)).already_applied
    clock.advance(ms=1)
    assert not (await memory.store.append(memory.memory, [user("a")], later, memory.limits)).already_applied


async def test_a_call_past_its_deadline_is_refused_even_if_it_was_applied(memory: Driven, clock: ManualClock) -> None:
    operation = Operation("one", clock.now_ms() + 1000, "")
    await memory.store.append(memory.memory, [user("a")], operation, memory.limits)
    clock.advance(ms=1001)
    with pytest.raises(MemoryOperationExpired):
        await memory.store.append(memory.memory, [user("a")], operation, memory.limits)


async def test_a_lease_of_before_the_clock_went_back_ends_as_it_was_given(memory: Driven, clock: ManualClock) -> None:
    await memory.append(*(user(text) for text in "abcdefg"))
    first = await memory.batch("flusher/1")
    clock.advance(ms=-600_000)
    assert (await memory.refused_begin("flusher/2")).retry_after_ms == memory.limits.lease_ms
    clock.advance(ms=memory.limits.lease_ms)
    assert (await memory.batch("flusher/2")).fence > first.fence


async def test_an_operation_id_stands_for_one_kind_of_call(memory: Driven) -> None:
    operation = Operation("one", memory.clock.now_ms() + 1000, "")
    await memory.store.append(memory.memory, [user("a")], operation, memory.limits)
    with pytest.raises(MemoryOperationConflict):
        await memory.store.clear(memory.memory, operation, mode="read-write")
    assert (await memory.store.stats(memory.memory, memory.limits)).exists


async def test_nobody_but_a_flush_writes_summaries(memory: Driven) -> None:
    with pytest.raises(MemoryInvalid, match="long_term"):
        await memory.append(summary("mine"))
    assert not (await memory.store.stats(memory.memory, memory.limits)).exists


async def test_a_large_batch_is_read_in_pages_and_each_message_once(memory: Driven) -> None:
    memory = memory.under(summarising(max_tokens=10_000, due_tokens=10_000))
    ids = [i for _ in range(5) for i in (await memory.append(*[user("a", 1) for _ in range(100)])).ids]
    batch = await memory.store.begin(
        memory.memory,
        "o",
        memory.limits,
        FlushOptions(force=True),
        batch_id="b",
        attempt_ends_ms=memory.clock.now_ms(),
    )
    assert isinstance(batch, Batch)
    seen: list[str] = []
    cursor: int | None = 0
    while cursor is not None:
        page = await memory.store.content(memory.memory, batch, cursor)
        assert isinstance(page, BatchPage)
        seen.extend(entry.id for entry in page.entries)
        cursor = page.cursor
    assert seen == ids


def test_nothing_stays_of_memories_that_expired_and_are_never_used_again() -> None:
    shelves = Shelves()
    for index in range(1000):
        shelf = shelves.shelf(MemoryId("project", "resource", str(index)), 0)
        shelf.state = MemoryState("0" * 16, 0)
        shelf.state.expires_ms = 10
        shelf.operations.record("append", Operation("one", 20, ""), ())
    assert len(shelves) == 1000
    for _ in range(1000):
        shelves.shelf(MemoryId("project", "resource", "in use"), 100_000)
    assert len(shelves) == 1


def test_a_call_is_forgotten_when_every_operation_that_knew_it_has_ended() -> None:
    calls = Calls()
    calls.open(1, ["a", "a"])
    calls.open(2, ["a"])
    calls.answer(1, "a")
    calls.leave(1, ["a"])
    calls.forget_after(100, 1, ("a", "a"))
    calls.prune(100)
    assert list(calls.waiting_left("a")) == [1]
    calls.prune(101)
    assert list(calls.waiting_left("a")) == []
    assert list(calls.waiting_live("a")) == [2]
    assert calls.seen("a")
    calls.leave(2, ["a"])
    calls.forget_after(200, 2, ("a",))
    calls.prune(201)
    assert not calls.seen("a")


async def test_after_a_change_of_policy_groups_go_by_their_age(memory: Driven) -> None:
    lru = memory.under(summarising(policy="lru"))
    ids = [(await lru.append(user(text))).ids[0] for text in "abcdefgh"]
    await lru.store.touch(lru.memory, ids[:1], lru.limits)
    fifo = memory.under(summarising())
    await fifo.append(user("i"))
    assert ids[0] not in [entry.id for entry in (await fifo.read()).entries]
    await fifo.store.touch(fifo.memory, ids[1:2], fifo.limits)
    await lru.append(user("j"))
    assert ids[1] not in [entry.id for entry in (await lru.read()).entries]


async def test_a_backup_ends_a_week_after_its_clear(memory: Driven, clock: ManualClock) -> None:
    kept = []
    for text in "ab":
        await memory.append(user(text))
        kept.append((await memory.clear(backup=True)).backup_id)
        clock.advance(ms=BACKUP_LIFETIME_MS // 2)
    assert [backup.id for backup in (await memory.stats()).backups] == [kept[1]]
    with pytest.raises(MemoryInvalid, match="backup_id"):
        await memory.restore(kept[0])
    await memory.restore(kept[1])
    assert await memory.texts() == ["b"]
