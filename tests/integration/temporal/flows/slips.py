"""Workflows with the slips that are made most often: each has to end, with a word that says what to do."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError

from durable_memory import Agent, AgentMemory, AgentRef, MemoryRef, Message

WHERE = ("in a def activity", "in a def activity with a loop", "in the workflow")


@workflow.defn
class PassAHandle:
    """Passes a handle where its reference belongs."""

    @workflow.run
    async def run(self, what: str) -> AgentMemory | None:
        """See class."""
        handle = Agent("clerk") if what == "agent" else AgentMemory("chat", key="anna")
        if what == "result":
            return AgentMemory("chat", key="anna")
        if what == "continue-as-new":
            workflow.continue_as_new(args=[handle])
        if what == "child":
            await workflow.execute_child_workflow("AddToAReference", handle)
        if what == "signal":
            await workflow.get_external_workflow_handle("another").signal("take", handle)
        if what == "service":
            await workflow.create_nexus_client(service="any", endpoint="any").execute_operation("any", handle)
        if what == "signal to a child":
            child = await workflow.start_child_workflow(
                "AddToAReference", "memory", id=f"{workflow.info().run_id}/child"
            )
            await child.signal("take", handle)
        if what == "local":
            await workflow.execute_local_activity("memory.read", handle, start_to_close_timeout=timedelta(seconds=5))
        await workflow.execute_activity("memory.read", handle, start_to_close_timeout=timedelta(seconds=5))
        return None


@workflow.defn
class AnswerAHandle:
    """Answers a handle where its reference belongs."""

    def __init__(self) -> None:
        self._asked = False

    @workflow.query
    def query(self) -> AgentMemory:
        """See class."""
        return AgentMemory("chat", key="anna")

    @workflow.update
    def update(self) -> AgentMemory:
        """See class."""
        self._asked = True
        return AgentMemory("chat", key="anna")

    @workflow.run
    async def run(self) -> str:
        """Goes on whatever its handlers answer."""
        await workflow.wait_condition(lambda: self._asked)
        return "went on"


@workflow.defn
class AddToAReference:
    """Gives a handle a reference, and once more what that holds."""

    @workflow.run
    async def run(self, what: str) -> None:
        """See class."""
        if what == "agent":
            Agent(AgentRef("clerk"), input={"user": "anna"})
        else:
            AgentMemory(MemoryRef("chat", key="anna"), "berta")


@workflow.defn
class OpenWhatCame:
    """Opens what it was sent, which Temporal leaves as JSON: the parameter does not say that it is a reference."""

    @workflow.run
    async def run(self, what: str, sent: Any) -> None:
        """See class."""
        if what == "agent":
            Agent(sent)
        else:
            AgentMemory(sent)


@workflow.defn
class OpenAnother:
    """Opens a reference as what it is not."""

    @workflow.run
    async def run(self, what: str) -> None:
        """See class."""
        if what == "agent":
            Agent(MemoryRef("chat", key="anna"))  # type: ignore[arg-type]  # the slip
        else:
            AgentMemory(AgentRef("clerk"))  # type: ignore[arg-type]  # the slip


@workflow.defn
class SayNothing:
    """Makes a message that is none, of what it was sent."""

    @workflow.run
    async def run(self, text: str) -> None:
        """See class."""
        await AgentMemory("chat", key="anna").append(Message.user(text))


@workflow.defn
class AskForTheClient:
    """Asks for the client where there is none."""

    @workflow.run
    async def run(self, where: str) -> None:
        """See class."""
        if where == "in the workflow":
            from durable_memory import current_memory_client  # noqa: PLC0415 - without the plugin the sandbox refuses it

            current_memory_client()
        names = {
            "in a def activity": "asks_in_a_thread",
            "in a def activity with a loop": "asks_in_a_loop_of_its_own",
            "in a thread, by its own client": "names_no_memory",
        }
        name = names.get(where, "asks_for_the_client")
        if where == "in a local activity":
            await workflow.execute_local_activity(name, start_to_close_timeout=timedelta(seconds=5))
            return
        await workflow.execute_activity(name, start_to_close_timeout=timedelta(seconds=5))


@workflow.defn
class CallAService:
    """Calls an operation of a service."""

    @workflow.run
    async def run(self, endpoint: str) -> None:
        """See class."""
        service = workflow.create_nexus_client(service="Clerk", endpoint=endpoint)
        await service.execute_operation("ask", "anna", schedule_to_close_timeout=timedelta(seconds=20))


@workflow.defn
class CallWithAnyType:
    """Calls a method of a handle with an argument of a wrong type, one that JSON carries and one that it does not.

    Returns how each call ended.
    """

    @workflow.run
    async def run(self, method: str, argument: str, needed: dict[str, Any], kind: str) -> list[str]:
        """See class."""
        return await asyncio.gather(
            *(_ending(method, {**needed, argument: value}, kind) for value in ([[5]], object()))
        )


async def _ending(method: str, given: dict[str, Any], kind: str) -> str:
    handle = Agent("booking", input={"trip_id": "1"}) if kind == "agent" else AgentMemory("chat", key="user:1")
    try:
        await getattr(handle, method)(**given)
    except FailureError as failure:
        cause = failure.cause if isinstance(failure, ActivityError) else failure
        return f"{cause.type}: {cause}" if isinstance(cause, ApplicationError) else repr(cause)
    return "taken"
