"""Conformance: whether an append would be refused can be asked before, and asking changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from durable_memory.memory.errors import (
    MemoryAccessDenied,
    MemoryBackpressure,
    MemoryFault,
    MemoryInvalid,
    MemoryOperationConflict,
    MemoryOperationExpired,
    MemoryOrphanResult,
    MemoryOversize,
)
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.values import Entry
from durable_memory.testing.contracts.builders import call, divided, dropping, result, summarising, system, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven

_FILLED: Final = (call("C", "open"), call("D", "done"), result("d", "done"), user("a"), system("s", 20))
_SMALL: Final = summarising(overflow_tokens=40)
_REFUSED: Final[dict[str, tuple[type[MemoryFault], Limits, tuple[Entry, ...]]]] = {
    "a result without its call": (MemoryOrphanResult, _SMALL, (result("r", "never"),)),
    "a second result": (MemoryOrphanResult, _SMALL, (result("r", "done"),)),
    "a large message": (MemoryOversize, _SMALL, (user("x", 81),)),
    "a result too large for its group": (MemoryOversize, _SMALL, (result("r", "open", 75),)),
    "more than is ever evicted": (MemoryOversize, _SMALL, (system("t", 70),)),
    "more than the overflow ever takes": (MemoryOversize, _SMALL, tuple(user(str(i)) for i in range(14))),
    "an overflow that is full": (MemoryBackpressure, _SMALL, tuple(user(str(i)) for i in range(4))),
    "a section that is not declared": (MemoryInvalid, _SMALL, (replace(user("x"), section="notes"),)),
    "a mode that reads": (MemoryAccessDenied, replace(_SMALL, mode="read-only"), (user("x"),)),
}


class TryingContract(StoreCase):
    """What `try_append` answers is what `append` would."""

    @pytest.mark.parametrize("case", _REFUSED)
    async def test_a_trial_is_refused_in_the_words_of_the_append(self, open_memory: OpenMemory, case: str) -> None:
        error, limits, entries = _REFUSED[case]
        filled = open_memory(_SMALL)
        await filled.append(*_FILLED)
        await filled.append(*(user(f"more {i}") for i in range(3)))
        before = await filled.state()
        memory = filled.under(limits)
        with pytest.raises(error) as asked:
            await memory.try_append(*entries, op="one")
        assert await filled.state() == before
        with pytest.raises(error) as appended:
            await memory.append(*entries, op="one")
        assert str(asked.value) == str(appended.value)

    async def test_a_summary_of_before_refuses_nothing_where_the_memory_drops_now(
        self, open_memory: OpenMemory
    ) -> None:
        summarised = open_memory(summarising())
        await summarised.append(*(user(f"m{number}") for number in range(8)))
        batch = await summarised.batch()
        await summarised.summarise(batch)
        await summarised.commit(batch)
        memory = summarised.under(dropping(max_tokens=40))
        before = await memory.state()
        await memory.try_append(user("next", 30))
        assert await memory.state() == before
        assert (await memory.append(user("next", 30))).evicted > 0

    async def test_what_fits_may_be_appended_afterwards_as_the_same_operation(self, memory: Driven) -> None:
        await memory.try_append(user("a"), op="one")
        assert not (await memory.stats()).exists
        first = await memory.append(user("a"), op="one")
        assert (first.created, first.already_applied) == (True, False)

    async def test_an_append_that_was_applied_is_not_refused_whatever_came_since(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising())
        await memory.append(user("a", 60), op="one")
        await memory.under(summarising(max_tokens=50)).try_append(user("a", 60), op="one")

    async def test_an_append_that_was_applied_is_not_refused_either_where_its_section_is_no_longer_declared(
        self, open_memory: OpenMemory
    ) -> None:
        memory, note = open_memory(divided()), user("a", section="notes")
        await memory.append(note, op="one")
        later = memory.under(dropping())
        await later.try_append(note, op="one")
        assert (await later.append(note, op="one")).already_applied
        with pytest.raises(MemoryOperationConflict):
            await later.try_append(user("b", section="notes"), op="one")

    async def test_a_used_id_and_a_passed_deadline_are_refused(self, memory: Driven) -> None:
        await memory.append(user("a"), op="one")
        with pytest.raises(MemoryOperationConflict):
            await memory.try_append(user("b"), op="one")
        with pytest.raises(MemoryOperationExpired):
            await replace(memory, patience_ms=-1).try_append(user("b"))

    async def test_another_policy_is_looked_at_and_not_adopted(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(policy="lru"))
        ids = await memory.append_each(*(user(name) for name in "abcdefgh"))
        await memory.touch(ids[0])
        await memory.under(summarising(policy="priority")).try_append(user("i"))
        await memory.append(user("i"))
        assert await memory.texts() == list("acdefghi")

    async def test_in_a_divided_budget_each_section_is_asked(self, open_memory: OpenMemory) -> None:
        memory = open_memory(divided())
        with pytest.raises(MemoryOversize, match="notes"):
            await memory.try_append(replace(user("x", 21), section="notes"))
        await memory.try_append(replace(user("x", 20), section="notes"))
        assert not (await memory.stats()).exists
