"""Random schedules on both stores at once, under budgets that are divided, lowered, divided anew and made common."""

from __future__ import annotations

import asyncio
import itertools
import os
from bisect import bisect_right
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from durable_memory.memory.clock import ManualClock
from durable_memory.memory.errors import MemoryFault
from durable_memory.memory.limits import Limits, PolicyName
from durable_memory.memory.stores.values import Batch, Entry, FlushOptions
from durable_memory.memory.types import AppendResult, FlushResult
from durable_memory.testing.contracts.builders import (
    call,
    divided,
    dropping,
    result,
    summarising,
    system,
    text_of,
    user,
)
from durable_memory.testing.contracts.driven import Driven
from durable_memory.testing.contracts.rigs import InMemoryRig, StoreRig, drive, open_redis_rig

EXAMPLES = int(os.environ.get("DURABLE_MEMORY_TEST_EXAMPLES", "40"))

pytestmark = pytest.mark.timeout(900)

LIMITS: Final[list[Limits]] = [
    divided(),
    divided(shares={"system": 30, "long_term": 50, "notes": 20, "bookings": 20, "short_term": 80}),
    divided(shares={"system": 10, "long_term": 30, "bookings": 40, "short_term": 40}),
    divided(shares={"system": 30, "long_term": 50, "bookings": 40, "other": 20, "short_term": 60}),
    divided(max_messages=9, due_messages=7, target_messages=4),
    divided(
        summarize=False,
        summary_tokens=0,
        overflow_tokens=None,
        shares={"system": 40, "long_term": 0, "notes": 40, "short_term": 120},
    ),
    summarising(overflow_tokens=200),
    summarising(max_tokens=12, summary_tokens=3, overflow_tokens=24, due_tokens=7, target_tokens=4, keep_last=3),
    summarising(max_messages=4, overflow_messages=12, due_messages=3, target_messages=1),
    dropping(max_tokens=60, due_tokens=48),
    dropping(max_tokens=60, due_tokens=48, result_reserve=8),
    divided(result_reserve=5),
    summarising(overflow_tokens=200, result_reserve=30),
]
SECTIONS: Final = ("short_term", "short_term", "bookings", "notes", "other")
said = st.tuples(
    st.sampled_from(["user"] * 6 + ["pinned", "system", "call", "parallel", "answer", "answer", "picture"]),
    st.sampled_from(SECTIONS),
    st.integers(1, 24),
    st.integers(0, 3),
)
place = st.integers(0, 30)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.lists(said, min_size=1, max_size=4)),
        st.tuples(st.just("append"), st.lists(said, min_size=1, max_size=4)),
        st.tuples(st.just("append"), st.lists(said, min_size=1, max_size=4)),
        st.tuples(st.just("write"), st.lists(said, min_size=1, max_size=4)),
        st.tuples(st.sampled_from(["touch", "pin", "unpin", "delete", "read by id"]), st.lists(place, max_size=3)),
        st.tuples(st.sampled_from(["read", "within"]), st.integers(0, 120)),
        st.tuples(st.sampled_from(["flush", "begin", "plan"]), st.booleans()),
        st.tuples(st.just("drop from"), st.integers(1, 40)),
        st.tuples(st.just("finish"), st.integers(1, 20)),
        st.tuples(st.just("declare"), st.sampled_from(range(len(LIMITS)))),
    ),
    min_size=4,
    max_size=40,
)


class Pair:
    """One memory in each store, which must look the same after each step."""

    def __init__(self, stores: list[Driven]) -> None:
        self.stores = stores
        self.names: list[dict[str, str]] = [{} for _ in stores]
        self.texts: list[str] = []
        self.batches: list[Batch | None] = [None for _ in stores]
        self.number = itertools.count(1)
        self.played = 0
        self.began: list[list[int]] = [[] for _ in stores]
        """When each step began, by the clock of each store."""

    async def play(self, kind: str, argument: Any) -> None:
        self.played += 1
        await asyncio.sleep(0.001)  # so that no step begins in the millisecond in which the one before has ended
        for store, began in zip(self.stores, self.began, strict=True):
            if isinstance(store.clock, ManualClock):
                store.clock.advance(ms=1)
            began.append(store.clock.now_ms())
        if kind == "declare":
            policy = self.stores[0].limits.policy
            self.stores = [one.under(replace(LIMITS[argument], policy=policy)) for one in self.stores]
        elif kind in {"append", "write"}:
            await self.say(kind, [self.entry(*one) for one in argument])
        else:
            wanted = (
                [self.texts[-1 - one % len(self.texts)] for one in argument]
                if isinstance(argument, list) and self.texts
                else []
            )
            await self.same([self.step(index, kind, argument, wanted) for index in range(len(self.stores))])
        await self.same([self.look(index) for index in range(len(self.stores))])

    async def settle(self, under: int) -> None:
        """However often the declaration changed, flushes end, and a message comes in, unless pins fill all there is."""
        for index, store in enumerate(self.stores):
            await caught(self.finish(index, 1))
            await self.round(store, force=True)
        await self.play("declare", under)
        for store in self.stores:
            for _ in range(len(self.texts) + 99):
                if (await self.round(store)).outcome in {"nothing", "gone"}:
                    break
            else:
                pytest.fail("flushes do not end")
            stats = await store.stats()
            assert bool(stats.flush_blocked) == stats.flush_due
            said = await caught(store.append(user("last", 1)))
            room = store.limits.room_of("short_term")
            rooms = (None if room is None else room.limit, store.limits.room_messages)
            refusals = tuple(f"may fill at most {room}; they are never evicted, so delete or unpin" for room in rooms)
            assert isinstance(said, AppendResult) or any(text in str(said) for text in refusals)

    async def round(self, store: Driven, *, force: bool = False) -> FlushResult:
        if not store.limits.summarize:
            return await store.drop(force=force)
        begun = await store.begin(f"settling/{next(self.number)}", force=force)
        if isinstance(begun, FlushResult):
            return begun
        await store.summarise(begun, tokens=begun.summary_max)
        return await store.commit(begun)

    def entry(self, what: str, section: str, tokens: int, band: int) -> Entry:
        text = f"m{next(self.number)}"
        if what == "system":
            return system(text, tokens)
        if what == "call":
            return call(text, f"c{tokens % 4}", tokens=tokens, section=section, band=band)
        if what == "parallel":
            opens = [f"c{(tokens + more) % 4}" for more in range(3)]
            return call(text, *opens, tokens=tokens, section=section, band=band, pinned=band == 0)
        if what in {"answer", "picture"}:
            return replace(result(text, f"c{tokens % 4}", tokens), whole=what == "picture")
        return user(text, tokens, pinned=what == "pinned", section=section, band=band)

    async def say(self, kind: str, entries: list[Entry]) -> None:
        async def one(index: int) -> object:
            said: AppendResult = await getattr(self.stores[index], kind)(*entries)
            self.names[index].update((text_of(entry), name) for entry, name in zip(entries, said.ids, strict=True))
            return replace(said, ids=(), version="")

        answers = await self.same([one(index) for index in range(len(self.stores))])
        if not isinstance(answers[0], MemoryFault):
            self.texts += [text_of(entry) for entry in entries]

    async def step(  # noqa: PLR0911 - a table
        self, index: int, kind: str, argument: Any, wanted: list[str]
    ) -> object:
        store, ids = self.stores[index], [self.names[index][text] for text in wanted]
        if kind == "read":
            return self.shown(await store.read(limit=argument % 12))
        if kind == "within":
            view = self.shown(await store.read(max_tokens=argument))
            known = store.limits.sections
            return view, self.shown(await store.read(sections=(known[argument % len(known)],)))
        if kind == "read by id":
            return self.shown(await store.read(ids=tuple(ids)))
        if kind == "drop from":
            return (
                None if store.limits.summarize else self.told(index, await store.drop(asked=due_from(store, argument)))
            )
        if kind in {"flush", "begin"}:
            return await self.begin(index, force=argument, whole=kind == "flush")
        if kind == "plan":
            return self.told(index, await store.store.plan(store.memory, store.limits, FlushOptions(force=argument)))
        if kind == "finish":
            return await self.finish(index, argument)
        answer = await getattr(store, kind)(*ids)
        if kind == "delete":
            return self.named(index, answer.removed), self.named(index, answer.not_found), len(answer.covered)
        return self.named(index, answer)

    async def begin(self, index: int, *, force: bool, whole: bool) -> object:
        store = self.stores[index]
        if not store.limits.summarize:
            return self.told(index, await store.drop(force=force))
        begun = await store.begin(
            f"flusher/whole-{self.played}" if whole else f"flusher/{len(self.texts)}", force=force
        )
        if isinstance(begun, FlushResult):
            return begun.outcome, begun.reason
        self.batches[index] = begun
        content = await store.content_texts(begun)
        return (begun.messages, begun.tokens, content, await self.finish(index, 12) if whole else None)

    async def finish(self, index: int, tokens: int) -> object:
        store, batch = self.stores[index], self.batches[index]
        if batch is None:
            return None
        page = await store.store.content(store.memory, batch, 0)
        if isinstance(page, str):
            return page
        await store.summarise(batch, tokens=tokens)
        committed = await store.commit(batch)
        self.names[index][f"s{committed.summary_id and batch.fence}"] = str(committed.summary_id)
        return self.told(index, committed)

    async def look(self, index: int) -> object:
        view, stats = await self.stores[index].state()
        sums = (
            dict(stats.tokens),
            dict(stats.messages),
            stats.omitted,
            stats.flush_due,
            stats.flush_blocked,
            stats.shares,
            # The clocks differ, but not in which step a flush became due.
            stats.due_since and bisect_right(self.began[index], round(stats.due_since.timestamp() * 1000)),
        )
        return self.shown(view), sums

    def shown(self, view: Any) -> object:
        entries = [(entry.section, text_of(entry), entry.tokens, entry.pinned) for entry in view.entries]
        return entries, view.tokens, view.omitted_messages, view.omitted_tokens, view.flush_due

    def told(self, index: int, answer: FlushResult) -> object:
        return replace(
            answer, removed_ids=tuple(self.named(index, answer.removed_ids)), summary_id=None, retry_after_ms=0
        )

    def named(self, index: int, ids: Any) -> list[str]:
        texts = {name: text for text, name in self.names[index].items()}
        return [texts[one] for one in ids]

    async def same(self, calls: list[Any]) -> list[object]:
        answers = [await caught(one) for one in calls]
        told = [(type(one), vars(one)) if isinstance(one, MemoryFault) else one for one in answers]
        assert told[0] == told[1]
        return answers


def due_from(store: Driven, above: int) -> Limits:
    """The limits of a memory with thresholds that are so much above their targets."""
    common, own = store.limits.target_tokens, store.limits.shares
    shares = [replace(one, due_tokens=None if one.target_tokens is None else one.target_tokens + above) for one in own]
    return replace(store.limits, due_tokens=None if common is None else common + above, shares=tuple(shares))


async def caught(call_: Awaitable[object]) -> object:
    try:
        return await call_
    except MemoryFault as fault:
        return fault


def test_any_schedule_under_any_budget_leaves_both_stores_the_same(redis_url: str) -> None:
    async def play(drawn: list[tuple[str, Any]], first: int, policy: PolicyName) -> None:
        async with AsyncExitStack() as stack:
            rigs: list[StoreRig] = [InMemoryRig(), await stack.enter_async_context(open_redis_rig(redis_url))]
            limits = replace(LIMITS[first], policy=policy)
            pair = Pair([drive(rig, limits) for rig in rigs])
            for kind, argument in drawn:
                await pair.play(kind, argument)
            for number in range(len(LIMITS)):
                await pair.settle((first + number) % len(LIMITS))

    @settings(max_examples=EXAMPLES)
    @given(
        drawn=steps,
        first=st.sampled_from(range(len(LIMITS))),
        policy=st.sampled_from(["fifo", "lru", "lfu", "priority"]),
    )
    def check(drawn: list[tuple[str, Any]], first: int, policy: PolicyName) -> None:
        asyncio.run(play(drawn, first, policy))

    check()
