"""What workflows and activities may do to a memory without harm."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from temporalio.worker import Replayer

from tests.integration.cases.flows import ACTIVITIES, FLOWS, LONG, Call, LookedAt, TalkToBoth
from tests.integration.temporal.observing import fault_of
from tests.integration.temporal.rig import Rig, plugin, running, unique


@pytest.fixture(scope="session")
async def rig(temporal_address: str, redis_url: str) -> AsyncIterator[Rig]:
    """A worker that runs the workflows and activities of these tests."""
    async with running(temporal_address, redis_url, workflows=FLOWS, activities=ACTIVITIES) as shared:
        yield shared


async def test_turns_recorded_at_the_same_time_are_recorded_once_whatever_they_say(rig: Rig) -> None:
    first, second = unique("first"), unique("second")
    await rig.run(TalkToBoth.run, first, second)
    assert [await rig.texts("archive", key) for key in (first, second)] == [[LONG], ["short"]]


async def test_handles_made_in_queries_and_validators_change_no_run(rig: Rig, redis_url: str) -> None:
    key = unique("key")
    started = await rig.start(LookedAt.run, key)
    for _ in range(3):
        assert await started.query(LookedAt.memory) == "of a query"
    await started.execute_update(LookedAt.go_on)
    assert len(set(await started.result())) == 2
    assert await started.query(LookedAt.memory) == "of a query"
    history = await started.fetch_history()
    await Replayer(workflows=FLOWS, plugins=[plugin(redis_url, unique("project"))]).replay_workflow(history)


HALF = "\ud83d"
MEMORY = {"resource": "chat", "key": "odd"}
HELLO = {"role": "user", "content": "Hello."}
ODD_REQUESTS: list[tuple[str, Any, str]] = [
    ("memory.append", {"memory": MEMORY, "messages": [{**HELLO, HALF: 1}]}, "MemoryInvalid"),
    ("memory.append", {"memory": MEMORY, "messages": [HELLO], HALF: 1}, "MemoryInvalid"),
    ("memory.append", {"memory": MEMORY, "messages": [HELLO], "operation_id": HALF}, "MemoryInvalid"),
    ("memory.append", {"memory": MEMORY, "messages": [HELLO], "contract": "2"}, "MemoryInvalid"),
    ("memory.append", {"memory": MEMORY, "messages": [HELLO], "contract": True}, "MemoryInvalid"),
    ("memory.append", {"memory": MEMORY, "messages": {"0": HELLO}}, "MemoryInvalid"),
    ("memory.append", {"memory": MEMORY, "messages": [None]}, "MemoryInvalid"),
    ("memory.append", {"memory": "chat", "messages": [HELLO]}, "MemoryInvalid"),
    ("memory.append", {"memory": {**MEMORY, "key": 42}, "messages": [HELLO]}, "MemoryInvalid"),
    ("memory.append", {"memory": {**MEMORY, "key": HALF}, "messages": [HELLO]}, "MemoryKeyInvalid"),
    ("memory.append", {"memory": {"resource": HALF, "key": "k"}, "messages": [HELLO]}, "MemoryUnknownResource"),
    ("memory.append", {"memory": {**MEMORY, "agent": HALF}, "messages": [HELLO]}, "MemoryUnknownResource"),
    ("memory.read", {"memory": MEMORY, "limit": 2.5}, "MemoryInvalid"),
    ("memory.read", {"memory": MEMORY, "limit": "2"}, "MemoryInvalid"),
    ("memory.read", {"memory": MEMORY, "limit": True}, "MemoryInvalid"),
    ("memory.delete", {"memory": MEMORY, "ids": "one"}, "MemoryInvalid"),
    ("memory.clear", {"memory": MEMORY, "confirm": 1}, "MemoryInvalid"),
    ("memory.clear", {"memory": MEMORY, "confirm": "true"}, "MemoryInvalid"),
    ("memory.write", {"memory": MEMORY, "messages": [HELLO], "if_version": ""}, "MemoryInvalid"),
    ("memory.flush", {"memory": MEMORY, "force": "yes"}, "MemoryInvalid"),
    ("memory.health", [], "MemoryInvalid"),
]


async def test_odd_requests_of_other_languages_end_at_once_with_their_type(rig: Rig) -> None:
    async def outcome(name: str, request: Any) -> tuple[str | None, bool]:
        fault = await fault_of((await rig.start(Call.run, name, request)).result())
        return fault.type, fault.non_retryable

    outcomes = await asyncio.gather(*(outcome(name, request) for name, request, _ in ODD_REQUESTS))
    assert outcomes == [(kind, True) for _, _, kind in ODD_REQUESTS]
    assert await rig.texts("chat", "odd") == []


async def test_ids_that_are_no_text_find_nothing_and_fail_nothing(rig: Rig) -> None:
    request = {"memory": MEMORY, "ids": [HALF, "x"]}
    touched, deleted, view = await asyncio.gather(
        *(rig.run(Call.run, name, request) for name in ("memory.touch", "memory.delete", "memory.read"))
    )
    assert (touched["touched"], len(deleted["not_found"]), view["messages"]) == ([], 2, [])
