"""A workflow that runs an agent of the OpenAI Agents SDK, whose conversation is a memory."""

from __future__ import annotations

from agents import Agent, Runner, function_tool
from temporalio import workflow

from durable_memory import AgentMemory
from durable_memory.openai_agents import MemorySession


@function_tool
async def track(order: str) -> str:
    """Says where an order is."""
    return f"{order} is in Lyon."


@workflow.defn
class Ask:
    """Asks one question after the other."""

    @workflow.run
    async def run(self, resource: str, key: str, questions: list[str]) -> list[str]:
        """See class."""
        session = MemorySession(AgentMemory(resource, key=key))
        clerk = Agent("Clerk", instructions="Help with parcels.", tools=[track])
        return [str((await Runner.run(clerk, question, session=session)).final_output) for question in questions]
