"""Workflows that an earlier release started go on with this one: what it stored replays, command by command."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import (
    ExecuteWorkflowInput,
    Interceptor,
    Replayer,
    UnsandboxedWorkflowRunner,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)

from durable_memory import MemoryPlugin
from durable_memory.workflows.flusher import MemoryFlusher
from durable_memory.workflows.janitor import MemoryJanitor
from tests.histories.flows import FLOWS
from tests.histories.record import FOLDER, RELEASE, record
from tests.histories.stage import IDENTITY, REGISTRY


def text(path: Path) -> str:
    """Returns what a file holds."""
    return path.read_text(encoding="utf-8")


def histories(folder: Path) -> list[Path]:
    """Returns the histories in a folder."""
    return sorted(folder.glob("*.json"))


STORED = histories(FOLDER)
SETTLED = [path for path in STORED if '"memory.cleanup"' in text(path)]

each_stored_history = pytest.mark.parametrize("path", STORED, ids=[path.stem for path in STORED])
each_settled_history = pytest.mark.parametrize("path", SETTLED, ids=[path.stem for path in SETTLED])


async def replayed(path: Path, replayer: Replayer) -> Exception | None:
    """Replays a stored history; returns what was wrong."""
    history = WorkflowHistory.from_json("stored", text(path))
    return (await replayer.replay_workflow(history, raise_on_replay_failure=False)).replay_failure


def replayer(interceptors: Sequence[Interceptor] = ()) -> Replayer:
    """Replays with the plugin, which reaches no server for it."""
    plugin = MemoryPlugin(redis_url="redis://127.0.0.1:1", memories=REGISTRY)
    return Replayer(workflows=FLOWS, plugins=[plugin], interceptors=interceptors)


@each_stored_history
async def test_a_stored_history_replays(path: Path) -> None:
    assert await replayed(path, replayer()) is None


class OneCommandMore(Interceptor):
    """Changes every workflow at its very end."""

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:  # noqa: ARG002 - the overridden method's
        """See base class."""
        return _OneCommandMore


class _OneCommandMore(WorkflowInboundInterceptor):
    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:
        try:
            return await super().execute_workflow(input)
        finally:
            await workflow.sleep(timedelta(seconds=1))


@each_stored_history
async def test_one_command_more_fails_the_replay(path: Path) -> None:
    failure = await replayed(path, replayer([OneCommandMore()]))
    assert isinstance(failure, workflow.NondeterminismError)


@each_settled_history
async def test_one_command_less_fails_the_replay(path: Path) -> None:
    # The plugin would spare the sandbox the import of all that is ours, so there is none without it.
    runner = UnsandboxedWorkflowRunner()
    without_cleanup = Replayer(workflows=[*FLOWS, MemoryFlusher, MemoryJanitor], workflow_runner=runner)
    assert isinstance(await replayed(path, without_cleanup), workflow.NondeterminismError)


async def test_recorded_again_the_same_outcomes_are_stored_and_nothing_of_the_machine(tmp_path: Path) -> None:
    await record(tmp_path)
    recorded = histories(tmp_path)
    assert {path.name for path in recorded} == {path.name for path in STORED if path.name.endswith(f".{RELEASE}.json")}
    assert [await replayed(path, replayer()) for path in recorded] == [None] * len(recorded)
    # Host and process stand in the worker's identity alone, for which the recorder takes another.
    for word in (IDENTITY, str(FOLDER.parents[1])):
        assert [path.name for path in (*recorded, *STORED) if word in text(path)] == []
