"""What is one operation: all attempts of an activity, and of no other one that has its id."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from temporalio.api.enums.v1 import EventType

from tests.integration.temporal.flows.activity_ids import UNDER_IDS, TalkHere, TalkUnderOneId
from tests.integration.temporal.observing import event_types_of
from tests.integration.temporal.rig import Rig, running, unique
from tests.integration.temporal.user_activities import FAILS_ONCE


@pytest.fixture(scope="module", params=[1000, 0], ids=["cache-1000", "cache-0"])
async def talking(temporal_address: str, redis_url: str, request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    """A worker of these workflows, with and without a cache."""
    async with running(temporal_address, redis_url, workflows=UNDER_IDS, max_cached_workflows=request.param) as rig:
        yield rig


async def test_activities_that_share_an_id_record_a_turn_each(talking: Rig) -> None:
    key = unique("key")
    answers = await talking.run(TalkUnderOneId.run, key, ["Where is it?", FAILS_ONCE, "Thanks."])
    first, second, third = "Attempt 1 knew 0 messages.", "Attempt 1 knew 3 messages.", "Attempt 1 knew 6 messages."
    assert answers == [first, second, third]
    assert await talking.texts("chat", key) == [
        *("Where is it?", first, "Noted: Where is it?"),
        *(FAILS_ONCE, second, f"Noted: {FAILS_ONCE}"),
        *("Thanks.", third, "Noted: Thanks."),
    ]


async def test_a_local_activity_that_is_tried_again_after_a_timer_records_its_turn_once(talking: Rig) -> None:
    key = unique("key")
    handle = await talking.start(TalkHere.run, key, ["Where is it?", FAILS_ONCE, "Thanks."])
    first, second, third = "Attempt 1 knew 0 messages.", "Attempt 1 knew 2 messages.", "Attempt 1 knew 4 messages."
    assert await handle.result() == [first, second, third]
    assert EventType.EVENT_TYPE_TIMER_STARTED in await event_types_of(handle)
    assert await talking.texts("chat", key) == ["Where is it?", first, FAILS_ONCE, second, "Thanks.", third]
