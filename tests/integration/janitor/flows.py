"""Workflows whose chains have several runs, with time between them for the janitor to look."""

from __future__ import annotations

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from durable_memory import AgentMemory


@workflow.defn
class ContinuesAsNew:
    """Appends in its first run only, and continues as new each time it is told."""

    def __init__(self) -> None:
        self._told = False

    @workflow.signal
    def go_on(self) -> None:
        """Ends this run."""
        self._told = True

    @workflow.run
    async def run(self, key: str, rounds: int) -> None:
        """See class; the run after the last round ends the chain when it is told."""
        if workflow.info().continued_run_id is None:
            await AgentMemory("scratch", key=key).append("From the first run.")
        await workflow.wait_condition(lambda: self._told)
        if rounds:
            workflow.continue_as_new(args=[key, rounds - 1])


@workflow.defn
class FailsOnce:
    """Appends in its first attempt and fails; its second one waits until it is told."""

    def __init__(self) -> None:
        self._told = False

    @workflow.signal
    def go_on(self) -> None:
        """Ends the second attempt."""
        self._told = True

    @workflow.run
    async def run(self, key: str) -> None:
        """See class."""
        if workflow.info().attempt == 1:
            await AgentMemory("scratch", key=key).append("From the first attempt.")
            raise ApplicationError("the model is gone", type="ModelGone")
        await workflow.wait_condition(lambda: self._told)


@workflow.defn
class EveryTime:
    """Appends and returns: for a cron schedule."""

    @workflow.run
    async def run(self, key: str) -> None:
        """See class."""
        await AgentMemory("scratch", key=key).append("From one of the runs.")


CHAINS: tuple[type, ...] = (ContinuesAsNew, FailsOnce, EveryTime)
