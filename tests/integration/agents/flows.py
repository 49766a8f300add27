"""Workflows that use a memory in the name of an agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from durable_memory import Agent, AgentContext, AgentMemory, View


@workflow.defn
class TakeATurn:
    """One turn of an agent: context, a model's answer, the turn written back."""

    @workflow.run
    async def run(self, agent: str, given: dict[str, str], said: str) -> dict[str, list[str]]:
        """Returns what the agent saw before and after, the turn that stands, and which memories hold it."""
        mine = Agent(agent, input=given)
        before = await mine.context(max_tokens=1000)
        name = f"turn-of-{workflow.info().run_id}"
        turn = await mine.record_turn([said, {"role": "assistant", "content": f"I heard: {said}"}], operation_id=name)
        again = Agent(mine.ref)
        known = [await again.recorded_turn(operation_id=operation) for operation in (name, "another")]
        after = await workflow.execute_activity(
            "look_by_reference", mine.ref, start_to_close_timeout=timedelta(seconds=10), result_type=list[str]
        )
        return {
            "before": [message.text for message in before.messages],
            "recorded": [one.resource for one in turn.turns],
            "stands": [message.text for message in turn.messages],
            "after": after,
            "known": [message.text for turn in known if turn is not None for message in turn.messages],
        }


@workflow.defn
class AskBeforeTheModel:
    """Runs the activity that asks for its turn before it asks a model."""

    @workflow.run
    async def run(self, user: str) -> list[str]:
        """See class."""
        answers: list[str] = await workflow.execute_activity(
            "ask_before_the_model", user, start_to_close_timeout=timedelta(seconds=10), result_type=list[str]
        )
        return answers


@workflow.defn
class UseAs:
    """Uses a memory as an agent."""

    @workflow.run
    async def run(self, resource: str, key: str, agent: str | None, operations: list[str]) -> list[str]:
        """Calls these operations and returns, for each, `done` or the type of the error that came of it."""
        memory = AgentMemory(resource, key=key, agent=agent)
        calls: dict[str, Callable[[], Awaitable[object]]] = {
            "append": lambda: memory.append("more"),
            "read": memory.read,
            "write": lambda: memory.write("new"),
            "clear": lambda: memory.clear(confirm=True),
            "flush": lambda: memory.flush(force=True),
            "stats": memory.stats,
        }
        outcomes = []
        for operation in operations:
            try:
                await calls[operation]()
                outcomes.append("done")
            except ActivityError as error:
                cause = error.cause
                outcomes.append(str(cause.type) if isinstance(cause, ApplicationError) else "other")
        return outcomes


@workflow.defn
class RecordAndBreak:
    """Runs the activity that breaks between two memories."""

    @workflow.run
    async def run(self, user: str) -> list[bool]:
        """Returns of each memory whether it held the turn already."""
        held: list[bool] = await workflow.execute_activity(
            "record_and_break", user, start_to_close_timeout=timedelta(seconds=10), result_type=list[bool]
        )
        return held


@workflow.defn
class ReadWithAuthors:
    """Reads with the names of authors, in each way, and without."""

    @workflow.run
    async def run(self, user: str) -> dict[str, list[str | None]]:
        """Returns the names of the messages that each read shows."""
        memory = AgentMemory("desk", key=f"trip:{user}")
        clerk = Agent("clerk", input={"user": user})
        shown: dict[str, View | AgentContext] = {
            "read": await memory.read(authors=True),
            "read here": await memory.read(authors=True, local=True),
            "read without": await memory.read(),
            "context": await clerk.context(authors=True),
            "context without": await clerk.context(),
        }
        return {how: [message.name for message in seen.messages] for how, seen in shown.items()}


@workflow.defn
class CallByName:
    """Sends a request as it is, as a caller in another language does."""

    @workflow.run
    async def run(self, activity: str, request: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer."""
        answer: dict[str, Any] = await workflow.execute_activity(
            activity,
            request,
            start_to_close_timeout=timedelta(seconds=10),
            heartbeat_timeout=timedelta(seconds=5),
            result_type=dict[str, Any],
        )
        return answer
