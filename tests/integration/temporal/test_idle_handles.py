"""A workflow that made a handle and used it for nothing is told of in its log, once, and in no other way."""

from __future__ import annotations

import contextlib
import logging

import pytest
from temporalio.client import WorkflowFailureError

from tests.integration.temporal.flows.endings import MakeHandles
from tests.integration.temporal.observing import activities_of, eventually
from tests.integration.temporal.rig import Rig, unique


async def warned_of(rig: Rig, use: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Runs the workflow to its end; returns what its log warns of."""
    caplog.clear()
    caplog.set_level(logging.WARNING, "temporalio.workflow")
    with contextlib.suppress(WorkflowFailureError):
        await rig.run(MakeHandles.run, unique("key"), use)
    return [record.getMessage() for record in caplog.records if "without one call" in record.getMessage()]


async def test_handles_that_were_never_used_are_one_warning(any_cache: Rig, caplog: pytest.LogCaptureFixture) -> None:
    [warning] = await warned_of(any_cache, "none", caplog)
    assert "on: memory chat, agent booking. Nothing was read or written" in warning
    [warning] = await warned_of(any_cache, "one", caplog)
    assert "on: agent booking. " in warning


@pytest.mark.parametrize("use", ["call", "other handle", "reference", "refused"])
async def test_whatever_was_done_with_a_handle_is_no_warning(
    rig: Rig, caplog: pytest.LogCaptureFixture, use: str
) -> None:
    assert await warned_of(rig, use, caplog) == []


@pytest.mark.parametrize("use", ["fail", "continue as new"])
async def test_a_run_that_failed_or_goes_on_says_nothing_of_its_handles(
    rig: Rig, caplog: pytest.LogCaptureFixture, use: str
) -> None:
    assert await warned_of(rig, use, caplog) == []


async def test_handles_of_validators_are_none_of_the_run(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "temporalio.workflow")
    handle = await rig.start(MakeHandles.run, unique("key"), "wait")

    async def made_its_own() -> bool:
        return "memory.context" in await activities_of(handle)

    await eventually(made_its_own)
    await handle.execute_update(MakeHandles.go_on)
    await handle.result()
    assert [record.getMessage() for record in caplog.records if "without one call" in record.getMessage()] == []


async def test_the_warning_is_no_command(rig: Rig) -> None:
    handle = await rig.start(MakeHandles.run, unique("key"), "none")
    await handle.result()
    assert await activities_of(handle) == ["memory.cleanup"]
