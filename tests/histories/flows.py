"""Workflows of users whose histories are stored. Never change what one does: add another beside it."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from durable_memory import AgentMemory, MemoryRef

RESOURCE = "scratch"
_TURN = workflow.ActivityConfig(start_to_close_timeout=timedelta(seconds=20))


@workflow.defn(name="stored-ending")
class Ending:
    """Appends, and ends as it is told."""

    def __init__(self) -> None:
        self._released = False

    @workflow.signal
    def release(self) -> None:
        """Lets a waiting run go on."""
        self._released = True

    @workflow.run
    async def run(self, key: str, how: str) -> str:
        """See class."""
        if how != "idle":
            await AgentMemory(RESOURCE, key=key).append("Keep this.")
        if how == "fail":
            raise ApplicationError("the model is gone", type="ModelGone")
        if how == "continue as new":
            workflow.continue_as_new(args=[key, "idle"])
        if how == "wait":
            await workflow.wait_condition(lambda: self._released)
        if how == "wait in an activity":
            await workflow.execute_activity(
                "wait_for_cancellation",
                start_to_close_timeout=timedelta(seconds=20),
                heartbeat_timeout=timedelta(seconds=2),
            )
        return how


@workflow.defn(name="stored-turns")
class Turns:
    """Passes a reference and each text to one activity."""

    @workflow.run
    async def run(self, key: str, texts: list[str]) -> None:
        """See class."""
        memory = AgentMemory(RESOURCE, key=key)
        for text in texts:
            await workflow.execute_activity("model_turn", args=[memory.ref, text], result_type=str, **_TURN)


@workflow.defn(name="stored-borrowed")
class Borrowed:
    """Makes no handle: it was given a reference and passes it on."""

    @workflow.run
    async def run(self, ref: MemoryRef, text: str) -> None:
        """See class."""
        await workflow.execute_activity("model_turn", args=[ref, text], result_type=str, **_TURN)


@workflow.defn(name="stored-methods")
class Methods:
    """Calls each method of the handle."""

    @workflow.run
    async def run(self, key: str) -> None:
        """See class."""
        memory = AgentMemory(RESOURCE, key=key)
        appended = await memory.append("Where is it?")
        await memory.record_turn(["And now?", {"role": "assistant", "content": "In Lyon."}])
        view = await memory.read()
        await memory.touch(appended.ids)
        await memory.delete(appended.ids)
        await memory.flush(force=True)
        await memory.write("A new start.", if_version=None if view.messages else view.version)
        await memory.stats()
        await memory.health()
        await memory.clear(confirm=True)


FLOWS: tuple[type, ...] = (Ending, Turns, Borrowed, Methods)
