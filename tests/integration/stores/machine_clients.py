"""The steps of clients: append, write, delete, clear, expiry, reads, and the same operations again."""

from __future__ import annotations

import copy
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeAlias

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from durable_memory.memory.errors import (
    MemoryConflict,
    MemoryFault,
    MemoryOperationConflict,
    MemoryOperationExpired,
    MemoryOversize,
)
from durable_memory.memory.stores.values import ABSENT, NORMAL, Entry, Operation
from durable_memory.memory.types import AppendResult, ClearResult, DeleteResult, FlushResult
from durable_memory.testing.contracts.builders import call, result, system, text_of, texts_of, user
from tests.integration.stores.machine_base import Applied, MachineBase, position
from tests.integration.stores.model import ModelMemory
from tests.integration.stores.model_values import Refused

Drawn: TypeAlias = "list[tuple[str, int, int]]"
"""What to append: kind, tokens, and for a result which of the calls it answers."""

kind = st.sampled_from(
    ["user"] * 3
    + ["low", "high", "critical"]
    + ["pinned", "system", "call", "call", "parallel", "again", "answer", "answer"]
)
BANDS = {"low": 0, "high": 2, "critical": 3}
messages = st.lists(st.tuples(kind, st.integers(1, 30), position), min_size=1, max_size=9)


class ClientSteps(MachineBase):
    """What clients do."""

    def entries(self, drawn: Drawn) -> list[Entry]:
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
                size = min(tokens, 9) if what == "pinned" else tokens
                made.append(user(text, size, pinned=what == "pinned", band=BANDS.get(what, NORMAL)))
        return made

    def appended(self, entries: list[Entry], operation: Operation) -> None:
        def attempt(again: Operation) -> Coroutine[Any, Any, AppendResult]:
            return self.memory.store.append(self.memory.memory, entries, again, self.limits)

        def asked_first() -> Coroutine[Any, Any, None]:
            return self.memory.store.try_append(self.memory.memory, entries, operation, self.limits)

        born = not self.model.exists
        try:
            evicted, late = self.model.append(entries)
        except Refused as refused:
            self.must_refuse(asked_first(), refused.error)
            self.must_refuse(attempt(operation), refused.error)
            self.refused.append((operation, entries))
            return
        self.run(asked_first())
        answer = self.run(attempt(operation))
        assert (answer.evicted, answer.late, answer.created, answer.already_applied) == (evicted, late, born, False)
        self.noted(entries, operation, attempt, answer)

    def must_refuse(self, attempt: Coroutine[Any, Any, object], error: type[MemoryFault]) -> None:
        before = self.run(self.memory.state())
        with pytest.raises(error):
            self.run(attempt)
        assert self.run(self.memory.state()) == before

    def noted(
        self,
        entries: list[Entry],
        operation: Operation,
        attempt: Callable[[Operation], Coroutine[Any, Any, AppendResult]],
        answer: AppendResult,
    ) -> None:
        self.ids |= dict(zip(map(text_of, entries), answer.ids, strict=True))
        self.current = self.current if self.model.batch else None
        assert ((answer.tokens, answer.messages), answer.flush_due) == (self.model.total(), self.model.due())
        self.applied.append(Applied(operation, attempt, answer))

    @rule(drawn=messages)
    def append_again(self, drawn: Drawn) -> None:
        self.append(drawn)

    @rule(drawn=messages)
    def append(self, drawn: Drawn) -> None:
        entries = self.entries(drawn)
        self.appended(entries, self.memory.operation(None, *map(text_of, entries)))

    @precondition(lambda self: self.refused)
    @rule(place=position)
    def retry_what_was_refused(self, place: int) -> None:
        operation, entries = self.refused.pop(place % len(self.refused))
        self.appended(entries, operation)

    @precondition(lambda self: self.steps > 10)
    @rule(
        drawn=messages, if_version=st.sampled_from(["none", "none", "right", "right", "old", "absent"]), place=position
    )
    def write(self, drawn: Drawn, if_version: str, place: int) -> None:
        entries = self.entries(drawn)
        has = self.versions[-1] if self.model.exists else ABSENT
        old = self.versions[place % len(self.versions)]
        wanted = {"none": None, "right": has, "old": old, "absent": ABSENT}[if_version]
        operation = self.memory.operation(None, *map(text_of, entries))

        def attempt(again: Operation) -> Coroutine[Any, Any, AppendResult]:
            return self.memory.store.write(self.memory.memory, entries, again, self.limits, wanted)

        if wanted not in {None, has}:
            self.must_refuse(attempt(operation), MemoryConflict)
            return
        born, replaced = not self.model.exists, self.model.total()[1] + self.model.omitted()[1]
        try:
            evicted, late = self.model.write(entries)
        except Refused as refused:
            self.must_refuse(attempt(operation), refused.error)
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

    @precondition(lambda self: self.ids)
    @rule(places=st.lists(position, min_size=1, max_size=3), pinned=st.booleans())
    def pin(self, places: list[int], *, pinned: bool) -> None:
        texts = [text for text in self.named(places) if text.startswith("m")]
        ids = [self.ids[text] for text in texts]
        operation = self.memory.operation(None, str(pinned), *ids)

        def attempt(again: Operation) -> Coroutine[Any, Any, tuple[str, ...]]:
            return self.memory.store.pin(self.memory.memory, ids, again, self.limits, pinned=pinned)

        trial = copy.deepcopy(self.model)
        live = tuple(self.ids[text] for text in texts if trial.pin(text, pinned=pinned))
        if trial.fixed_exceeds() and pinned and len(trial.fixed()) > len(self.model.fixed()):
            self.must_refuse(attempt(operation), MemoryOversize)
            return
        self.model = trial
        self.current = self.current if self.model.batch else None
        assert self.run(attempt(operation)) == live
        self.applied.append(Applied(operation, attempt, live))

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
            return self.memory.store.clear(self.memory.memory, again, mode="read-write")

        held = self.model.total()[1] + self.model.omitted()[1]
        answer = self.run(attempt(operation))
        assert answer.cleared == held
        self.applied.append(Applied(operation, attempt, answer))

    @precondition(lambda self: self.model.exists and self.steps > 10)
    @rule(drawn=messages)
    def clear_and_restore(self, drawn: Drawn) -> None:
        """Takes a clear back, over what was appended in between; all ids are new."""
        kept = copy.deepcopy(self.model)
        operation = self.memory.operation(None, "clear")
        store, memory = self.memory.store, self.memory.memory
        cleared = self.run(store.clear(memory, operation, backup=True, mode="read-write"))
        assert cleared.cleared == self.model.total()[1] + self.model.omitted()[1]
        self.model.end()
        self.current, self.waits_after_failure, self.steps = None, False, 0
        self.append(drawn)
        self.restored(kept, str(cleared.backup_id))

    def restored(self, kept: ModelMemory, backup: str) -> None:
        replaced = self.model.total()[1] + self.model.omitted()[1]
        gone = [*self.model.removed, *self.model.texts()]
        operation = self.memory.operation(None, backup)

        def attempt(again: Operation) -> Coroutine[Any, Any, AppendResult]:
            return self.memory.store.restore(self.memory.memory, backup, again, self.limits, None)

        answer = self.run(attempt(operation))
        assert (answer.removed, answer.created, answer.already_applied) == (replaced, True, False)
        held = kept.texts()
        self.model = kept
        self.model.batch = self.model.lease = None
        self.model.removed = [text for text in gone if text not in held]
        self.current, self.waits_after_failure = None, False
        self.noted([], operation, attempt, answer)
        self.learn_new_ids()

    def learn_new_ids(self) -> None:
        """Reads the ids that a restore gave; the same number and tag in another incarnation."""
        incarnation = self.run(self.memory.read()).version.partition(":")[0]
        for text in [*self.model.texts(), *(summary.text for summary in self.model.summaries)]:
            self.ids[text] = f"{incarnation}-{self.ids[text].partition('-')[2]}"

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
            return AppendResult(
                first.ids, version, *self.model.total(), flush_due=self.model.due(), already_applied=True
            )
        if isinstance(first, FlushResult):
            return replace(first, flush_due=self.model.due())
        return first

    def abuse(self, done: Applied, *, late: bool) -> None:
        past = self.rig.clock.now_ms() - 1000
        operation = (
            replace(done.operation, deadline_ms=past) if late else replace(done.operation, digest="other content")
        )
        self.must_refuse(done.attempt(operation), MemoryOperationExpired if late else MemoryOperationConflict)

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
