"""The agents as workflows: one turn of an agent, and calls that its mode may not allow."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from durable_memory import Agent, AgentMemory

TASK_QUEUE = "memory-sharing"


@workflow.defn
class Turn:
    """One turn of an agent: it passes a reference to the activity that asks the model."""

    @workflow.run
    async def run(self, agent: str, trip_id: str, said: str) -> str:
        """Returns what the agent answered."""
        answer: str = await workflow.execute_activity(
            "think",
            args=[Agent(agent, input={"trip_id": trip_id}).ref, said],
            start_to_close_timeout=timedelta(seconds=30),
            result_type=str,
        )
        return answer


@workflow.defn
class Overstep:
    """What a tool that a model drives might try on the thread."""

    @workflow.run
    async def run(self, agent: str | None, trip_id: str, operation: str) -> str:
        """Returns `done`, or why it was refused."""
        thread = AgentMemory("trip-thread", input={"trip_id": trip_id}, agent=agent)
        try:
            if operation == "append":
                await thread.append("I was here.")
            else:
                await thread.clear(confirm=True)
        except ActivityError as error:
            return error.cause.message if isinstance(error.cause, ApplicationError) else str(error)
        return "done"
