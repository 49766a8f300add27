"""Who calls a run that has ended and whose memories are being settled: the server takes that, the workflow does not."""

from __future__ import annotations

import pytest
from temporalio.client import WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError
from temporalio.worker import Replayer

from durable_memory import MemoryPlugin
from durable_memory.activities.wire import CLEANUP
from tests.integration.temporal.flows.late import EndAtOnce
from tests.integration.temporal.holding import HoldsAnswers
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import REGISTRY, running, unique


@pytest.mark.parametrize("cached", [1000, 0])
async def test_an_update_that_comes_too_late_fails_and_a_signal_is_told_in_the_log(
    temporal_address: str, redis_url: str, caplog: pytest.LogCaptureFixture, cached: int
) -> None:
    holds = HoldsAnswers(CLEANUP)
    async with running(
        temporal_address, redis_url, interceptors=[holds], workflows=[EndAtOnce], max_cached_workflows=cached
    ) as rig:
        handle = await rig.start(EndAtOnce.run, unique("key"))
        await holds.held()
        with pytest.raises(WorkflowUpdateFailedError) as caught:
            await handle.execute_update(EndAtOnce.ask)
        await handle.signal(EndAtOnce.tell)

        async def was_told() -> bool:
            return any("The signal 'tell' arrived when this run had ended" in text for text in caplog.messages)

        await eventually(was_told)
        holds.gate.set()
        assert await handle.result() == 0
        history = await handle.fetch_history()
    cause = caught.value.cause
    assert isinstance(cause, ApplicationError)
    assert cause.type == "AcceptedUpdateCompletedWorkflow"
    assert cause.message.startswith("The update 'ask' arrived when this run had ended")
    replayer = Replayer(workflows=[EndAtOnce], plugins=[MemoryPlugin(memories=REGISTRY)])
    await replayer.replay_workflow(history)
