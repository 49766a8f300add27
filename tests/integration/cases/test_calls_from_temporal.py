"""What workflows and activities may do to a memory without harm."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from temporalio.worker import Replayer

from tests.integration.cases.flows import ACTIVITIES, FLOWS, LONG, LookedAt, TalkToBoth
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
