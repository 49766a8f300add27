"""What a caller may ask of a flush: a plan, less of it, another threshold; and what cannot be asked."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from durable_memory.memory.errors import MemoryInvalid
from tests.integration.cases.conftest import OpenMemory

SENTENCE = "The parcel left the depot in Lyon on Monday and is on its way to you. "


async def test_a_dry_run_names_what_the_flush_then_removes_and_changes_nothing(open_memory: OpenMemory) -> None:
    memory = open_memory("small")
    ids = (await memory.append([SENTENCE] * 5)).ids
    before = await memory.read()
    planned = await memory.flush(force=True, dry_run=True)
    assert (planned.outcome, planned.removed_ids) == ("planned", ids[:4])
    assert await memory.read() == before
    flushed = await memory.flush(force=True)
    assert (flushed.outcome, flushed.removed_ids) == ("committed", planned.removed_ids)
    assert flushed.messages_after == planned.messages_after
    assert flushed.tokens_after <= planned.tokens_after


async def test_max_messages_bounds_a_flush(open_memory: OpenMemory) -> None:
    memory = open_memory("small")
    ids = (await memory.append([SENTENCE] * 5)).ids
    assert (await memory.flush(force=True, max_messages=2)).removed_ids == ids[:2]
    assert [message.id for message in (await memory.read()).messages[1:]] == list(ids[2:])


async def test_a_threshold_of_the_call_stands_for_the_declared_one(open_memory: OpenMemory) -> None:
    memory = open_memory("small")
    await memory.append([SENTENCE] * 8)
    filled = (await memory.stats()).tokens["short_term"] / 320
    assert 0.4 < filled < 0.8
    assert (await memory.flush()).reason == "below_threshold"
    assert (await memory.flush(threshold=1.0)).reason == "below_threshold"
    assert (await memory.flush(threshold=0.41, dry_run=True)).outcome == "planned"
    flushed = await memory.flush(threshold=0.41)
    assert flushed.outcome == "committed"
    # By the memory's own threshold nothing is due, so nobody is woken for it.
    assert not flushed.flush_due


async def test_a_flush_that_leaves_the_memory_due_by_its_own_threshold_does_not_hide_since_when(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory("small")
    await memory.append([SENTENCE] * 14)
    assert (await memory.stats()).due_since is not None
    flushed = await memory.flush(threshold=0.95, max_messages=1)
    assert (flushed.outcome, flushed.flush_due) == ("committed", True)
    stats = await memory.stats()
    assert stats.tokens["short_term"] < 0.95 * 320
    assert stats.due_since == stats.last_flush_at


async def test_a_flush_below_the_memorys_own_threshold_begins_no_wait(open_memory: OpenMemory) -> None:
    memory = open_memory("small")
    await memory.append([SENTENCE] * 10)
    assert not (await memory.stats()).flush_due
    flushed = await memory.flush(threshold=0.41, max_messages=1)
    assert (flushed.outcome, flushed.flush_due) == ("committed", False)
    before = datetime.now(UTC)
    await asyncio.sleep(0.01)
    await memory.append([SENTENCE] * 8)
    since = (await memory.stats()).due_since
    assert since is not None
    assert since > before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"max_messages": 0}, "max_messages: 0 takes nothing"),
        ({"max_messages": True}, "max_messages: must be a whole number"),
        ({"max_messages": "3"}, "max_messages: must be a whole number"),
        ({"threshold": 0.4}, "threshold: 0.4 must be above target_ratio, which is 0.4"),
        ({"threshold": 1.1}, "threshold: 1.1"),
        ({"threshold": float("nan")}, "threshold: nan"),
        ({"threshold": "0.5"}, "threshold: must be a number"),
        ({"threshold": 0.5, "force": True}, "threshold: has no effect with force"),
        ({"dry_run": 1}, "dry_run: must be true or false"),
        ({"wait": False, "dry_run": True}, "wait: a dry run is answered at once"),
        ({"wait": False, "max_messages": 3}, "wait: max_messages and threshold"),
        ({"wait": False}, "wait: nothing here can wake a background flush"),
    ],
)
async def test_what_cannot_be_asked_is_refused_by_name_and_changes_nothing(
    open_memory: OpenMemory, arguments: dict[str, Any], words: str
) -> None:
    memory = open_memory("small")
    await memory.append([SENTENCE] * 5)
    before = await memory.read()
    with pytest.raises(MemoryInvalid) as refused:
        await memory.flush(**arguments)
    assert words in refused.value.message
    assert await memory.read() == before
