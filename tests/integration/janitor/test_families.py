"""What becomes of a memory that a parent lends when the parent ends first, as docs/sharing.md tells it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.workflow import ParentClosePolicy

from durable_memory import current_memory_client
from tests.integration.janitor.families import FAMILIES, BorrowingChild, LendingParent, NamesNoMemory, child_of
from tests.integration.janitor.sweeping import Sweeper, appended, sweeper
from tests.integration.temporal.observing import event_types_of, eventually
from tests.integration.temporal.rig import running, unique

PARENT, CHILD = "From the parent.", "From the child, {}."


@activity.defn
async def write_by_name(key: str) -> None:
    """Writes to a memory that no workflow names."""
    await current_memory_client().memory("scratch", key).append("By its name.")


@pytest.fixture
async def by_hand(temporal_address: str, redis_url: str) -> AsyncIterator[Sweeper]:
    """Swept when the test says so."""
    async with (
        running(temporal_address, redis_url, workflows=FAMILIES, activities=[write_by_name]) as rig,
        sweeper(rig, redis_url) as by_hand,
    ):
        yield by_hand


async def lent(by_hand: Sweeper, key: str, policy: ParentClosePolicy) -> tuple[WorkflowHandle[Any, Any], ...]:
    """Starts a parent that has written and lent its memory; returns it and its child."""
    parent = await by_hand.rig.start(LendingParent.run, key, int(policy))

    async def child_has_started() -> bool:
        return EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED in await event_types_of(parent)

    await eventually(child_has_started)
    return parent, by_hand.rig.client.get_workflow_handle(child_of(parent.id))


async def write(by_hand: Sweeper, key: str, child: WorkflowHandle[Any, Any], messages: int) -> None:
    await child.signal(BorrowingChild.write)
    await appended(by_hand.rig, "scratch", key, messages)


async def end(one: WorkflowHandle[Any, Any]) -> None:
    await one.signal(LendingParent.end)
    await one.result()


async def test_what_an_abandoned_child_has_written_to_stays_until_it_ends(by_hand: Sweeper) -> None:
    key = unique("key")
    parent, child = await lent(by_hand, key, ParentClosePolicy.ABANDON)
    await write(by_hand, key, child, 2)
    await end(parent)
    await by_hand.sweep()
    assert await by_hand.rig.texts("scratch", key) == [PARENT, CHILD.format(1)]
    await write(by_hand, key, child, 3)
    await end(child)
    assert await by_hand.rig.texts("scratch", key) == []


async def test_what_an_abandoned_child_has_not_written_to_ends_with_its_parent(by_hand: Sweeper) -> None:
    key = unique("key")
    parent, child = await lent(by_hand, key, ParentClosePolicy.ABANDON)
    await end(parent)
    assert await by_hand.rig.texts("scratch", key) == []
    await write(by_hand, key, child, 1)
    await by_hand.sweep()
    assert await by_hand.rig.texts("scratch", key) == [CHILD.format(1)]
    await end(child)
    await by_hand.sweep()
    assert await by_hand.rig.texts("scratch", key) == []


async def test_what_a_child_wrote_that_is_terminated_with_its_parent_is_left_to_the_janitor(by_hand: Sweeper) -> None:
    key = unique("key")
    parent, child = await lent(by_hand, key, ParentClosePolicy.TERMINATE)
    await write(by_hand, key, child, 2)
    await end(parent)
    with pytest.raises(WorkflowFailureError):
        await child.result()
    assert await by_hand.rig.texts("scratch", key) == [PARENT, CHILD.format(1)]
    await by_hand.sweep()
    assert await by_hand.rig.texts("scratch", key) == []


async def test_a_child_that_is_cancelled_with_its_parent_settles_what_both_wrote_to(by_hand: Sweeper) -> None:
    key = unique("key")
    parent, child = await lent(by_hand, key, ParentClosePolicy.REQUEST_CANCEL)
    await write(by_hand, key, child, 2)
    await end(parent)
    with pytest.raises(WorkflowFailureError):
        await child.result()
    assert await by_hand.rig.texts("scratch", key) == []


async def test_a_memory_that_only_an_activity_names_is_left_to_the_janitor(by_hand: Sweeper) -> None:
    key = unique("key")
    await by_hand.rig.run(NamesNoMemory.run, key)
    assert await by_hand.rig.texts("scratch", key) == ["By its name."]
    await by_hand.sweep()
    assert await by_hand.rig.texts("scratch", key) == []
