"""A workflow that is reset meets what the runs before it wrote, as docs/operations.md says."""

from __future__ import annotations

from tests.integration.janitor.sweeping import appended, latest_run, reset
from tests.integration.temporal.flows.resets import Steps
from tests.integration.temporal.rig import running, unique

FIRST_TASK = 4
"""The event that ends the first workflow task: before anything was appended."""


async def test_a_reset_writes_again_what_has_no_name_and_recognises_what_has_one(
    temporal_address: str, redis_url: str
) -> None:
    key, workflow_id = unique("key"), unique("run")
    async with running(temporal_address, redis_url, workflows=[Steps]) as rig:
        handle = await rig.start(Steps.run, key, id=workflow_id)
        await appended(rig, "scratch", key, messages=3)
        first = await latest_run(handle)
        await reset(rig, workflow_id, first, FIRST_TASK)
        again = rig.client.get_workflow_handle(workflow_id)
        await again.signal(Steps.go_on)
        words = f"in the words of {first}"
        assert await again.result() == ["plain", "named", words, "plain", words]
        assert await latest_run(again) != first
        assert await rig.texts("scratch", key) == []  # cleared at the end of the new run, with what the first one wrote


async def test_what_was_cleared_at_the_end_is_not_there_for_a_reset(temporal_address: str, redis_url: str) -> None:
    key, workflow_id = unique("key"), unique("run")
    async with running(temporal_address, redis_url, workflows=[Steps]) as rig:
        handle = await rig.start(Steps.run, key, id=workflow_id)
        await handle.signal(Steps.go_on)
        first = await latest_run(handle)
        assert (await handle.result())[:2] == ["plain", "named"]
        await reset(rig, workflow_id, first, FIRST_TASK)
        *shown, _ = await rig.client.get_workflow_handle(workflow_id).result()
        assert shown == [
            "plain"
        ]  # what has a name is recognised, though what it wrote is gone, and brings nothing back
