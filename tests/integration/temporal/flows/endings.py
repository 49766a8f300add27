"""Workflows that use a memory and end in every way that a workflow can end."""

from __future__ import annotations

import contextlib
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from durable_memory import Agent, AgentMemory

WORDS = "Keep this in mind."


@workflow.defn
class End:
    """Appends, unless it is idle, and ends as it is told."""

    def __init__(self) -> None:
        self._released = False

    @workflow.signal
    def release(self) -> None:
        """Lets a waiting run go on."""
        self._released = True

    @workflow.signal
    def fail(self) -> None:
        """Fails a waiting run."""
        raise ApplicationError("the user hung up", type="HungUp")

    @workflow.run
    async def run(self, resource: str, key: str, how: str) -> str:
        """See class."""
        if how not in ("idle", "wait idly"):
            await AgentMemory(resource, key=key).append(WORDS)
        if how == "fail":
            raise ApplicationError("the model is gone", type="ModelGone")
        if how == "fail for good":
            raise ApplicationError("the model is gone", type="ModelGone", non_retryable=True)
        if how == "continue as new":
            workflow.continue_as_new(args=[resource, key, "wait idly"])
        if how == "wait in an activity":
            await workflow.execute_activity(
                "wait_for_cancellation",
                start_to_close_timeout=timedelta(minutes=1),
                heartbeat_timeout=timedelta(seconds=2),
            )
        if how.startswith("wait"):
            await workflow.wait_condition(lambda: self._released)
        return how


@workflow.defn(name="HasABug")
class HasABug:
    """Fails its workflow task, again and again."""

    @workflow.run
    async def run(self, key: str) -> str:
        """See class."""
        await AgentMemory("scratch", key=key).append(WORDS)
        raise ValueError("an index is off by one")


@workflow.defn(name="HasABug")
class HasNoBug:
    """The same workflow, repaired."""

    @workflow.run
    async def run(self, key: str) -> str:
        """See class."""
        await AgentMemory("scratch", key=key).append(WORDS)
        return "repaired"


@workflow.defn
class MakeHandles:
    """Makes handles, and uses of them what it is told."""

    def __init__(self) -> None:
        self._told = False

    @workflow.update
    def go_on(self) -> None:
        """Lets a run that waits go on."""
        self._told = True

    @go_on.validator
    def check(self) -> None:
        """Makes a handle where nothing may be changed."""
        AgentMemory("scratch", key="of a validator")

    @workflow.run
    async def run(self, key: str, use: str) -> None:
        """See class."""
        chat, trip = AgentMemory("chat", key=key), Agent("booking", input={"trip_id": key})
        await workflow.sleep(timedelta(milliseconds=10))  # a second task, which replays the first without a cache
        if use in ("call", "wait"):
            await chat.read(limit=1)
            await trip.context()
        if use == "wait":
            await workflow.wait_condition(lambda: self._told)
        if use == "other handle":
            await AgentMemory("chat", key=f"{key}-2").append(WORDS)
            await trip.record_turn(WORDS)
        if use == "reference":
            _ = chat.ref, trip.ref
        if use == "one":
            await chat.read(limit=1)
        if use == "refused":
            with contextlib.suppress(ApplicationError):
                await chat.append({"role": "nobody"})
            with contextlib.suppress(ApplicationError):
                await trip.record_turn({"role": "nobody"})
        if use == "fail":
            raise ApplicationError("the model is gone")
        if use == "continue as new":
            workflow.continue_as_new(args=[key, "none"])


ENDINGS: tuple[type, ...] = (End, MakeHandles)
