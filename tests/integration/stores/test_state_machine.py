"""Random schedules of every operation, on both stores, compared step by step with a memory made of plain lists."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from durable_memory.memory.errors import (
    MemoryConflict,
    MemoryOperationConflict,
    MemoryOperationExpired,
    MemorySummaryRejected,
)
from durable_memory.memory.stores.port import ABSENT, Batch, Entry, Operation
from durable_memory.memory.types import AppendResult, ClearResult, DeleteResult, FlushResult
from durable_memory.testing.builders import (
    call,
    dropping,
    result,
    summarising,
    summary,
    system,
    text_of,
    texts_of,
    user,
)
from durable_memory.testing.driven import Driven
from durable_memory.testing.model import ModelMemory, Refused
from durable_memory.testing.rigs import InMemoryRig, StoreRig, drive, open_redis_rig

Answer = TypeVar("Answer")
OpenRig = Callable[[AsyncExitStack], Awaitable[StoreRig]]

LONG_MS = 10**9
YEARS_MS = 10**12
"""Deadlines lie behind every expiry that a run can play, so that each operation stays repeatable."""

EXAMPLES = int(os.environ.get("DURABLE_MEMORY_TEST_EXAMPLES", "60"))
"""Schedules for each store."""

position = st.integers(0, 60)
kind = st.sampled_from(["user"] * 6 + ["pinned", "system", "call", "call", "parallel", "again", "answer", "answer"])
any_steps = st.lists(st.sampled_from(["begin", "summarise", "commit", "renew", "fail", "lose the lease"]), min_size=1)
round_or_part = st.sampled_from(
    [["begin", "summarise", "commit"]] * 2
    + [["begin"], ["begin", "summarise"], ["summarise", "commit"], ["commit"]]
    + [["begin", "begin", "summarise", "summarise", "commit", "commit"], ["begin", "summarise", "lose the lease", "begin"]]
)
messages = st.lists(st.tuples(kind, st.integers(1, 30), position), min_size=1, max_size=6)


SUMMARY_TOKENS = (5, 10, 15, 19, 20, 1, 21, 0)
"""The last two are not accepted: the room for summaries is 20."""


@dataclass(frozen=True)
class Applied:
    """An operation that was applied, to be sent again later."""

    operation: Operation
    attempt: Callable[[Operation], Coroutine[Any, Any, object]]
    answer: object


class StoreMachine(RuleBasedStateMachine):
    """Calls a store and the model with the same arguments and compares what both show after each call."""

    def __init__(self, open_rig: OpenRig) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stack = AsyncExitStack()
        self.rig = self.run(open_rig(self.stack))
        self.number = itertools.count(1)
        self.ids: dict[str, str] = {}
        self.calls: list[str] = ["never-called"]
        self.applied: list[Applied] = []
        self.refused: list[tuple[Operation, list[Entry]]] = []
        self.batches: list[Batch] = []
        self.current: Batch | None = None
        self.finished: dict[str, FlushResult] = {}
        self.versions = [ABSENT]
        self.waits_after_failure = False
        self.steps = 0
        """Steps since everything was removed at once: a life must be long enough to become interesting."""

    def run(self, step: Awaitable[Answer]) -> Answer:
        async def one() -> Answer:
            return await step

        return self.loop.run_until_complete(one())

    def teardown(self) -> None:
        self.run(self.stack.aclose())
        self.loop.close()

    @initialize(
        summarise=st.booleans(),
        policy=st.sampled_from(["fifo", "lru"]),
        max_messages=st.sampled_from([None, 8]),
        keep_first=st.integers(0, 1),
        keep_last=st.integers(0, 2),
        drawn=st.lists(messages, min_size=2, max_size=4),
    )
    def declare(self, *, summarise: bool, drawn: list[list[tuple[str, int, int]]], **fields: Any) -> None:
        declared = summarising if summarise else dropping
        numbers = {"due_messages": 6, "target_messages": 3, "overflow_messages": 20} if fields["max_messages"] else {}
        overflow = {"overflow_tokens": 200} if summarise else {}
        self.limits = declared(ttl_ms=LONG_MS, **numbers, **overflow, **fields)
        self.memory: Driven = replace(drive(self.rig, self.limits), patience_ms=YEARS_MS)
        self.model = ModelMemory(self.limits)
        for batch in drawn:
            self.append(batch)

    # Clients

    def entries(self, drawn: Sequence[tuple[str, int, int]]) -> list[Entry]:
        made: list[Entry] = []
        for what, tokens, place in drawn:
            text = f"m{next(self.number)}"
            opens = {"call": [text], "parallel": [text, f"{text}'"], "again": ["again"]}.get(what, [])
            self.calls += opens
            if what == "answer":
                made.append(result(text, self.calls[-1 - place % len(self.calls)], tokens))
            elif what == "system":
                made.append(system(text, min(tokens, 9)))
            elif opens:
                made.append(call(text, *opens, tokens=tokens))
            else:
                made.append(user(text, min(tokens, 9) if what == "pinned" else tokens, pinned=what == "pinned"))
        return made

    def appended(self, entries: list[Entry], operation: Operation) -> None:
        def attempt(again: Operation) -> Coroutine[Any, Any, AppendResult]:
            return self.memory.store.append(self.memory.memory, entries, again, self.limits)

        born = not self.model.exists
        try:
            evicted, late = self.model.append(entries)
        except Refused as refused:
            with pytest.raises(refused.error):
                self.run(attempt(operation))
            self.refused.append((operation, entries))
            return
        answer = self.run(attempt(operation))
        assert (answer.evicted, answer.late, answer.created, answer.already_applied) == (evicted, late, born, False)
        self.noted(entries, operation, attempt, answer)

    def noted(
        self,
        entries: list[Entry],
        operation: Operation,
        attempt: Callable[[Operation], Coroutine[Any, Any, AppendResult]],
        answer: AppendResult,
    ) -> None:
        self.ids |= dict(zip(map(text_of, entries), answer.ids, strict=True))
        assert ((answer.tokens, answer.messages), answer.flush_due) == (self.model.total(), self.model.due())
        self.applied.append(Applied(operation, attempt, answer))

    @rule(drawn=messages)
    def append_again(self, drawn: list[tuple[str, int, int]]) -> None:
        self.append(drawn)

    @rule(drawn=messages)
    def append(self, drawn: list[tuple[str, int, int]]) -> None:
        entries = self.entries(drawn)
        self.appended(entries, self.memory.operation(None, *map(text_of, entries)))

    @precondition(lambda self: self.refused)
    @rule(place=position)
    def retry_what_was_refused(self, place: int) -> None:
        operation, entries = self.refused.pop(place % len(self.refused))
        self.appended(entries, operation)

    @precondition(lambda self: self.steps > 10)
    @rule(drawn=messages, if_version=st.sampled_from(["none", "none", "right", "right", "old", "absent"]), place=position)
    def write(self, drawn: list[tuple[str, int, int]], if_version: str, place: int) -> None:
        entries = self.entries(drawn)
        has = self.versions[-1] if self.model.exists else ABSENT
        old = self.versions[place % len(self.versions)]
        wanted = {"none": None, "right": has, "old": old, "absent": ABSENT}[if_version]
        operation = self.memory.operation(None, *map(text_of, entries))

        def attempt(again: Operation) -> Coroutine[Any, Any, AppendResult]:
            return self.memory.store.write(self.memory.memory, entries, again, self.limits, wanted)

        if wanted not in {None, has}:
            with pytest.raises(MemoryConflict):
                self.run(attempt(operation))
            return
        born, replaced = not self.model.exists, self.model.total()[1] + self.model.omitted()[1]
        try:
            evicted, late = self.model.write(entries)
        except Refused as refused:
            with pytest.raises(refused.error):
                self.run(attempt(operation))
            return
        self.current, self.steps = None, 0
        answer = self.run(attempt(operation))
        assert (answer.evicted, answer.late, answer.created, answer.removed) == (evicted, late, born, replaced)
        self.noted(entries, operation, attempt, answer)

    @precondition(lambda self: self.ids)
    @rule(places=st.lists(position, min_size=1, max_size=3))
    def delete(self, places: list[int]) -> None:
        texts = self.named(places)
        ids = [*(self.ids[text] for text in texts), "nonsense"]
        operation = self.memory.operation(None, *ids)

        def attempt(again: Operation) -> Coroutine[Any, Any, DeleteResult]:
            return self.memory.store.delete(self.memory.memory, ids, again, self.limits)

        answer = self.run(attempt(operation))
        gone = [text for text in texts for text in self.model.delete(text)]
        covered = {
            self.ids[text]: self.ids[one.text] for one in self.model.summaries for text in texts if text in one.cover
        }
        assert sorted(answer.removed) == sorted(self.ids[text] for text in gone)
        assert covered.items() <= dict(answer.covered).items()
        assert sorted([*(set(ids) & set(answer.removed)), *answer.not_found, *answer.covered]) == sorted(ids)
        self.current = self.current if self.model.batch else None
        self.applied.append(Applied(operation, attempt, answer))

    @precondition(lambda self: self.model.exists and self.steps > 10)
    @rule(cleared=st.booleans())
    def end(self, *, cleared: bool) -> None:
        if cleared:
            self.clear()
        else:
            self.run(self.rig.expire(self.memory))
        self.model.end()
        self.current, self.waits_after_failure, self.steps = None, False, 0

    def clear(self) -> None:
        operation = self.memory.operation(None, "clear")

        def attempt(again: Operation) -> Coroutine[Any, Any, ClearResult]:
            return self.memory.store.clear(self.memory.memory, again)

        held = self.model.total()[1] + self.model.omitted()[1]
        answer = self.run(attempt(operation))
        assert answer.cleared == held
        self.applied.append(Applied(operation, attempt, answer))

    # The same operation again

    @precondition(lambda self: self.applied)
    @rule(places=st.lists(position, min_size=1, max_size=3), late=st.booleans())
    def send_again(self, places: list[int], *, late: bool) -> None:
        for place in places:
            done = self.applied[-1 - place % len(self.applied)]
            assert self.run(done.attempt(done.operation)) == self.expected_again(done.answer)
            self.abuse(done, late=late)

    def expected_again(self, first: object) -> object:
        if isinstance(first, AppendResult):
            version = self.versions[-1] if self.model.exists else ABSENT
            return AppendResult(first.ids, version, *self.model.total(), flush_due=self.model.due(), already_applied=True)
        if isinstance(first, FlushResult):
            return replace(first, flush_due=self.model.due())
        return first

    def abuse(self, done: Applied, *, late: bool) -> None:
        past = self.rig.clock.now_ms() - 1000
        operation = replace(done.operation, deadline_ms=past) if late else replace(done.operation, digest="other content")
        with pytest.raises(MemoryOperationExpired if late else MemoryOperationConflict):
            self.run(done.attempt(operation))

    # Readers

    def named(self, places: list[int]) -> list[str]:
        known = list(self.ids)
        return list(dict.fromkeys(known[-1 - place % len(known)] for place in places))

    @rule(limit=st.integers(0, 9), tokens=st.integers(0, 100))
    def read(self, limit: int, tokens: int) -> None:
        newest = self.run(self.memory.read(limit=limit))
        assert texts_of(newest) == [text for block in self.model.view_of_newest(limit) for text, _ in block]
        try:
            blocks = self.model.view_within(tokens)
        except Refused as refused:
            with pytest.raises(refused.error):
                self.run(self.memory.read(max_tokens=tokens))
            return
        view = self.run(self.memory.read(max_tokens=tokens))
        assert texts_of(view) == [text for block in blocks for text, _ in block]
        assert view.tokens <= tokens

    @precondition(lambda self: self.ids)
    @rule(places=st.lists(position, min_size=1, max_size=2), touch=st.booleans())
    def access(self, places: list[int], *, touch: bool) -> None:
        texts = [text for text in self.named(places) if text.startswith("m")]
        ids = [self.ids[text] for text in texts]
        live = [self.ids[text] for text in texts if self.model.access(text)]
        if touch:
            assert list(self.run(self.memory.touch(*ids))) == live
            return
        view = self.run(self.memory.read(ids=tuple(ids)))
        blocks = [block for block in self.model.view() if any(text in texts for text, _ in block)]
        assert texts_of(view) == [text for block in blocks for text, _ in block]

    # The flush in its single steps, also with batches of long ago

    @precondition(lambda self: self.limits.summarize)
    @rule(steps=st.one_of(round_or_part, round_or_part, any_steps), place=position, force=st.booleans())
    def flush(self, steps: list[str], place: int, *, force: bool) -> None:
        for turn, step in enumerate(steps, place):
            if step == "begin":
                self.begin(force=force, place=turn)
            elif step == "lose the lease":
                self.lose_the_lease()
            elif self.batches:
                old = self.batches[-1 - turn % len(self.batches)]
                batch = old if self.current is None or turn % 5 == 0 else self.current
                {"summarise": self.summarise, "commit": self.commit, "renew": self.renew, "fail": self.fail}[step](
                    batch, turn
                )
            self.both_show_the_same()

    def begin(self, *, force: bool, place: int) -> None:
        owners = [f"flusher/{next(self.number)}"] * 10 + [batch.owner for batch in self.batches]
        owner = owners[place % len(owners)]
        mine = self.current if self.current and self.current.owner == owner else None
        begun = self.run(self.memory.begin(owner, force=force))
        if owner in self.finished:
            assert isinstance(begun, FlushResult)
            assert replace(begun, flush_due=False) == replace(self.finished[owner], flush_due=False)
        elif not self.model.exists:
            assert begun == FlushResult("gone")
        elif mine:
            self.model.lease = owner
            assert begun == mine
        elif self.model.lease not in {None, owner}:
            assert isinstance(begun, FlushResult)
            assert begun.outcome == "busy"
        elif self.waits_after_failure and not force:
            assert isinstance(begun, FlushResult)
            assert begun.outcome == "busy"
        else:
            self.begun(begun, owner, force=force)

    def begun(self, begun: Batch | FlushResult, owner: str, *, force: bool) -> None:
        if not self.model.begin(owner, force=force):
            assert isinstance(begun, FlushResult)
            assert begun.outcome == "nothing"
            assert begun.reason in {"below_threshold", "pinned", "keep"}
            return
        assert isinstance(begun, Batch)
        assert self.model.batch is not None
        assert begun.messages == len(self.model.batch.messages)
        assert all(begun.fence > batch.fence for batch in self.batches if batch.incarnation == begun.incarnation)
        self.current = begun
        self.batches.append(begun)

    def stopped(self) -> str:
        return "stale" if self.model.exists else "gone"

    def summarise(self, batch: Batch, place: int) -> None:
        if batch is not self.current or self.model.batch is None:
            assert self.run(self.memory.store.content(self.memory.memory, batch, 0)) == self.stopped()
            draft = self.memory.store.draft(self.memory.memory, batch, summary("late"))
            assert self.run(draft) == self.stopped()
            return
        texts = self.run(self.memory.content_texts(batch))
        assert sorted(texts) == sorted(self.model.batch.texts())
        covered = [word for text in texts for word in text.split() if word.startswith("m")]
        self.model.batch.draft = summary(" ".join([f"S{next(self.number)}", *covered]), SUMMARY_TOKENS[place % len(SUMMARY_TOKENS)])
        assert self.run(self.memory.store.draft(self.memory.memory, batch, self.model.batch.draft)) is None

    def commit(self, batch: Batch, _: int) -> None:
        if batch.owner in self.finished:
            again = self.run(self.memory.commit(batch))
            assert replace(again, flush_due=False) == replace(self.finished[batch.owner], flush_due=False)
            assert again.flush_due == self.model.due()
        elif batch is not self.current or self.model.batch is None:
            assert self.run(self.memory.commit(batch)).outcome == self.stopped()
        elif self.model.batch.draft is None or not 0 < self.model.batch.draft.tokens <= batch.summary_max:
            with pytest.raises(MemorySummaryRejected):
                self.run(self.memory.commit(batch))
        else:
            before = self.model.total()
            committed = self.run(self.memory.commit(batch))
            removed = self.model.commit()
            assert committed.outcome == "committed"
            assert sorted(committed.removed_ids) == sorted(self.ids[text] for text in removed)
            assert (committed.tokens_before, committed.messages_before) == before
            assert (committed.tokens_after, committed.messages_after) == self.model.total()
            assert committed.flush_due == self.model.due()
            self.ids[self.model.summaries[-1].text] = str(committed.summary_id)
            self.finished[batch.owner] = committed
            self.current, self.waits_after_failure = None, False

    def renew(self, batch: Batch, _: int) -> None:
        renewed = self.run(self.memory.store.renew(self.memory.memory, batch, self.limits))
        assert renewed == (batch is self.current and self.model.lease in {None, batch.owner})
        self.model.lease = batch.owner if renewed else self.model.lease

    def fail(self, batch: Batch, place: int) -> None:
        wait = place % 2 == 0
        failed = self.memory.store.fail(self.memory.memory, batch, "SummariserDown", LONG_MS // 10 if wait else 0)
        if batch is not self.current:
            assert self.run(failed) == self.stopped()
            return
        assert self.run(failed) is None
        self.current = self.model.batch = self.model.lease = None
        self.waits_after_failure = wait

    def lose_the_lease(self) -> None:
        self.run(self.rig.expire_lease(self.memory))
        self.model.lease = None

    @precondition(lambda self: not self.limits.summarize)
    @rule(force=st.booleans())
    def drop(self, *, force: bool) -> None:
        operation = self.memory.operation(None, str(force))

        def attempt(again: Operation) -> Coroutine[Any, Any, FlushResult]:
            return self.memory.store.drop(self.memory.memory, again, self.limits, force=force)

        existed, before = self.model.exists, self.model.total()
        answer = self.run(attempt(operation))
        removed = self.model.drop(force=force)
        assert answer.outcome == ("gone" if not existed else "dropped" if removed else "nothing")
        assert sorted(answer.removed_ids) == sorted(self.ids[text] for text in removed)

    # What must be true after every step

    @invariant()
    def both_show_the_same(self) -> None:
        self.steps += 1
        view, stats = self.run(self.memory.state())
        shown = [(text_of(entry), entry.tokens, entry.id) for entry in view.entries]
        assert shown == [(text, tokens, self.ids[text]) for block in self.model.view() for text, tokens in block]
        assert view.tokens == sum(tokens for _, tokens, _ in shown) <= 100
        assert (view.omitted_tokens, view.omitted_messages) == self.model.omitted()
        assert (stats.omitted.tokens, stats.omitted.messages) == self.model.omitted()
        assert {name: (stats.tokens[name], stats.messages[name]) for name in stats.tokens} == {
            name: self.model.section(name) for name in ("system", "long_term", "short_term")
        }
        assert view.flush_due == stats.flush_due == self.model.due()
        assert (view.version == ABSENT) == (not stats.exists) == (not self.model.exists)
        assert stats.version == view.version
        assert stats.flushing_owner == self.model.lease
        if view.version not in self.versions:
            self.versions.append(view.version)

    @invariant()
    def every_acknowledged_message_is_in_one_place(self) -> None:
        acknowledged = sorted(text for text in self.ids if text.startswith("m"))
        assert sorted([*self.model.texts(), *self.model.removed]) == acknowledged


async def in_memory(_: AsyncExitStack) -> StoreRig:
    return InMemoryRig()


def check(open_rig: OpenRig) -> None:
    run_state_machine_as_test(
        lambda: StoreMachine(open_rig),
        settings=hypothesis.settings(
            max_examples=EXAMPLES,
            stateful_step_count=60,
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        ),
    )


def test_any_schedule_leaves_the_in_memory_store_as_the_model() -> None:
    check(in_memory)


def test_any_schedule_leaves_the_redis_store_as_the_model(redis_url: str) -> None:
    async def redis(stack: AsyncExitStack) -> StoreRig:
        return await stack.enter_async_context(open_redis_rig(redis_url))

    check(redis)
