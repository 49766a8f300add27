"""Conformance: an operation is applied once, answers all its attempts alike, and not at all after its deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from durable_memory.memory.errors import MemoryBackpressure, MemoryOperationConflict, MemoryOperationExpired
from durable_memory.memory.stores.values import ABSENT, FlushOptions, Operation
from durable_memory.memory.types import AppendResult, ClearResult, DeleteResult, FlushResult
from durable_memory.testing.contracts.builders import HOUR_MS, dropping, summarising, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven

Call = Callable[[Driven, Operation], Awaitable[AppendResult | ClearResult | DeleteResult | FlushResult]]

MUTATIONS: dict[str, Call] = {
    "append": lambda m, operation: m.store.append(m.memory, [user("x")], operation, m.limits),
    "write": lambda m, operation: m.store.write(m.memory, [user("x")], operation, m.limits, None),
    "delete": lambda m, operation: m.store.delete(m.memory, ["nonsense"], operation, m.limits),
    "clear": lambda m, operation: m.store.clear(m.memory, operation, mode="read-write"),
    "drop": lambda m, operation: m.store.drop(m.memory, operation, m.limits, FlushOptions(force=True)),
}

each_mutation = pytest.mark.parametrize("mutation", MUTATIONS)


class OperationsContract(StoreCase):
    """Operation ids, digests and deadlines."""

    async def test_a_repeated_append_answers_the_first_ids_and_the_present_state(self, memory: Driven) -> None:
        first = await memory.append(user("a"), user("b"), op="one")
        other = await memory.append(user("c"))
        again = await memory.append(user("a"), user("b"), op="one")
        assert (again.ids, again.already_applied) == (first.ids, True)
        assert (again.version, again.tokens, again.messages) == (other.version, 30, 3)
        assert await memory.texts() == ["a", "b", "c"]

    async def test_a_repeated_write_answers_the_first_ids_and_leaves_what_came_since(self, memory: Driven) -> None:
        first = await memory.write(user("w"), op="one")
        await memory.append(user("a"))
        again = await memory.write(user("w"), op="one")
        assert (again.ids, again.already_applied, await memory.texts()) == (first.ids, True, ["w", "a"])

    async def test_a_repeated_delete_answers_the_same(self, memory: Driven) -> None:
        ids = (await memory.append(user("a"), user("b"))).ids
        first = await memory.delete(ids[0], "nonsense", op="one")
        assert await memory.delete(ids[0], "nonsense", op="one") == first

    async def test_a_repeated_clear_removes_nothing_that_came_since(self, memory: Driven) -> None:
        await memory.append(user("a"), user("b"))
        first = await memory.clear(op="one")
        await memory.append(user("c"))
        assert await memory.clear(op="one") == first
        assert await memory.texts() == ["c"]

    @each_mutation
    async def test_only_a_repetition_says_that_it_was_applied_before(self, memory: Driven, mutation: str) -> None:
        operation = memory.operation("once", "same")
        said = [(await MUTATIONS[mutation](memory, operation)).already_applied for _ in range(3)]
        assert said == [False, True, True]

    async def test_a_flush_that_is_done_says_so_to_begin_and_to_commit(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch()
        await memory.summarise(batch)
        done = [await memory.commit(batch), await memory.commit(batch), await memory.refused_begin()]
        assert [one.already_applied for one in done] == [False, True, True]

    async def test_an_append_repeated_after_a_clear_answers_for_an_absent_memory(self, memory: Driven) -> None:
        first = await memory.append(user("a"), op="one")
        await memory.clear()
        again = await memory.append(user("a"), op="one")
        assert (again.ids, again.already_applied) == (first.ids, True)
        assert (again.version, again.tokens, again.messages, again.flush_due) == (ABSENT, 0, 0, False)
        assert (await memory.stats()).exists is False

    async def test_attempts_at_the_same_time_are_applied_once(self, memory: Driven) -> None:
        answers = await asyncio.gather(*(memory.append(user("a"), op="one") for _ in range(10)))
        assert len({answer.ids for answer in answers}) == 1
        assert sorted(answer.already_applied for answer in answers) == [False] + [True] * 9
        assert await memory.texts() == ["a"]

    @each_mutation
    async def test_the_same_id_with_other_content_is_refused(self, memory: Driven, mutation: str) -> None:
        await memory.append(user("a"), op="one")
        before = await memory.state()
        with pytest.raises(MemoryOperationConflict):
            await MUTATIONS[mutation](memory, memory.operation("one", "other content"))
        assert await memory.state() == before

    async def test_an_empty_digest_compares_with_nothing(self, memory: Driven) -> None:
        operation = replace(memory.operation("one"), digest="")
        first = await memory.store.append(memory.memory, [user("a")], operation, memory.limits)
        again = await memory.store.append(memory.memory, [user("b")], operation, memory.limits)
        with_digest = await memory.append(user("c"), op="one")
        assert (again.ids, with_digest.ids, await memory.texts()) == (first.ids, first.ids, ["a"])

    @each_mutation
    async def test_nothing_is_applied_after_its_deadline(self, open_memory: OpenMemory, mutation: str) -> None:
        memory = open_memory(dropping())
        await memory.append(user("a"))
        before = await memory.state()
        late = Operation("late", memory.clock.now_ms() - 1000, "digest")
        with pytest.raises(MemoryOperationExpired):
            await MUTATIONS[mutation](memory, late)
        assert await memory.state() == before

    @each_mutation
    async def test_an_operation_of_a_clock_that_is_a_year_ahead_is_applied_once(
        self, open_memory: OpenMemory, mutation: str
    ) -> None:
        memory = open_memory(dropping())
        await memory.append(user("a"))
        far = Operation("far", memory.clock.now_ms() + 365 * 24 * HOUR_MS, "digest")
        said = [(await MUTATIONS[mutation](memory, far)).already_applied for _ in range(2)]
        assert said == [False, True]

    @each_mutation
    async def test_a_known_operation_is_refused_after_its_deadline_too(
        self, open_memory: OpenMemory, mutation: str
    ) -> None:
        memory = open_memory(dropping())
        operation = memory.operation("one", "content")
        await MUTATIONS[mutation](memory, operation)
        with pytest.raises(MemoryOperationExpired):
            await MUTATIONS[mutation](memory, replace(operation, deadline_ms=memory.clock.now_ms() - 1000))

    async def test_an_operation_refused_for_now_may_pass_later(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(overflow_tokens=200))
        await memory.append(*(user(str(number)) for number in range(28)))
        with pytest.raises(MemoryBackpressure):
            await memory.append(user("later"), op="one")
        await memory.flush()
        passed = await memory.append(user("later"), op="one")
        assert (passed.already_applied, (await memory.texts())[-1]) == (False, "later")

    async def test_operations_of_different_memories_never_meet(self, open_memory: OpenMemory) -> None:
        one, two = open_memory(summarising()), open_memory(summarising())
        await one.append(user("a"), op="same")
        assert (await two.append(user("b"), op="same")).already_applied is False

    async def test_a_repeated_commit_answers_the_first_result(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch()
        await memory.summarise(batch)
        first = await memory.commit(batch)
        again = await memory.commit(batch)
        assert (again.outcome, again.removed_ids, again.summary_id) == (
            "committed",
            first.removed_ids,
            first.summary_id,
        )
        assert await memory.texts() == ["a b c", "d", "e", "f", "g"]

    async def test_a_begin_of_an_owner_that_is_done_answers_its_result(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        first = await memory.flush("flusher/1")
        await memory.append(*(user(text) for text in "hijk"))
        again = await memory.refused_begin("flusher/1")
        assert (again.outcome, again.removed_ids, again.summary_id) == (
            "committed",
            first.removed_ids,
            first.summary_id,
        )
