"""Workflows that lend their memories to others: each uses those whose keys are made of the workflow's id and type."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import workflow

from durable_memory import Agent, AgentMemory, AgentRef, MemoryRef

_TURN = workflow.ActivityConfig(start_to_close_timeout=timedelta(seconds=20))


@workflow.defn
class Lend:
    """Lends its memory and its agent to a child, returns references to both.

    first_words: what it writes itself, before.
    """

    @workflow.run
    async def run(self, resource: str, first_words: str | None) -> dict[str, Any]:
        """See class."""
        memory, agent = AgentMemory(resource), Agent("runner")
        if first_words is not None:
            await memory.append(first_words)
        refs = await workflow.execute_child_workflow(Borrow.run, args=[memory.ref, agent.ref])
        view = await memory.read()
        return {"refs": refs, "texts": [message.text for message in view.messages], "own": [memory.ref, agent.ref]}


@workflow.defn
class Borrow:
    """Uses borrowed references in each way that there is; returns those that its own handles give out."""

    @workflow.run
    async def run(self, lent: MemoryRef, lent_agent: AgentRef) -> list[Any]:
        """See class."""
        memory, agent = AgentMemory(lent), Agent(lent_agent)
        await memory.append("The child was here.")
        await memory.read(local=True)
        await workflow.execute_activity("model_turn", args=[lent, "By the reference of the parent."], **_TURN)
        await workflow.execute_activity("model_turn", args=[memory.ref, "By that of the child."], **_TURN)
        await agent.record_turn("By the agent of the parent.", operation_id="turn")
        await agent.recorded_turn(operation_id="turn")
        await agent.context()
        await workflow.execute_activity("pass_back", lent_agent, result_type=AgentRef, **_TURN)
        return [memory.ref, agent.ref]


@workflow.defn
class OpenOwn:
    """Gives its reference out, and opens it again as the next run, which may be of another type."""

    @workflow.run
    async def run(self, ref: MemoryRef | None, next_type: str | None) -> MemoryRef:
        """See class."""
        memory = AgentMemory("own") if ref is None else AgentMemory(ref)
        await memory.append(f"A run of {workflow.info().workflow_type}.")
        if next_type is not None:
            workflow.continue_as_new(args=[memory.ref, None], workflow=next_type)
        return memory.ref


@workflow.defn
class OpenOwnAsAnother(OpenOwn):
    """The same under another type."""

    @workflow.run
    async def run(self, ref: MemoryRef | None, next_type: str | None) -> MemoryRef:
        """See base class."""
        return await super().run(ref, next_type)


@workflow.defn
class PassBack:
    """Returns the references that an activity has made, and one that it was given."""

    @workflow.run
    async def run(self) -> list[AgentRef]:
        """See class."""
        made: AgentRef = await workflow.execute_activity("pass_back", None, result_type=AgentRef, **_TURN)
        lent = AgentRef("runner", workflow_id="order-7", workflow_type="Order")
        kept: AgentRef = await workflow.execute_activity("pass_back", lent, result_type=AgentRef, **_TURN)
        return [made, kept]


@workflow.defn
class Wait:
    """Makes a handle, and waits: what others write by its reference is its own."""

    def __init__(self) -> None:
        self._goes_on = False

    @workflow.run
    async def run(self) -> None:
        """See class."""
        AgentMemory("passing")
        await workflow.wait_condition(lambda: self._goes_on)

    @workflow.signal
    def go_on(self) -> None:
        """Lets it end."""
        self._goes_on = True


LENT: tuple[type, ...] = (Lend, Borrow, OpenOwn, OpenOwnAsAnother, PassBack, Wait)
