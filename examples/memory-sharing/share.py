"""Three agents, three modes, two memories: `python share.py` with REDIS_URL and TEMPORAL_ADDRESS set."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from pathlib import Path

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker
from trip_agents import TASK_QUEUE, Overstep, Turn

from durable_memory import AgentContext, AgentRef, MemoryPlugin, Message, current_memory_client
from durable_memory.exit import run_and_leave

MEMORIES = Path(__file__).with_name("memories")


def ask_the_model(context: AgentContext, said: str) -> str:
    """Stands for a model: `client.chat.completions.create(messages=context.to_openai(turn=said), …)`."""
    seen = ", ".join(f"{one.label} {one.messages}" for one in context.memories)
    return f"I see {seen or 'nothing'} ({context.tokens} tokens), and was told: {said}"


@activity.defn
async def think(ref: AgentRef, said: str) -> str:
    """One turn: all memories of the agent in one budget, the model, and the turn written back to those it may write."""
    agent = current_memory_client().agent(ref)
    recorded = await agent.recorded_turn()  # by an attempt before this one: the model is not asked again
    if recorded and recorded.messages:
        said_and_answered: Sequence[Message] = recorded.messages
    else:
        answer = ask_the_model(await agent.context(max_tokens=2000), said)
        said_and_answered = [Message.user(said), Message.assistant(answer)]
    turn = await agent.record_turn(said_and_answered)  # completes what an attempt left half done
    return f"{turn.messages[-1].text}; recorded in {[one.resource for one in turn.turns]}"


async def main() -> None:
    """Lets the agents talk, and tries what their modes do not allow."""
    plugin = MemoryPlugin(memories=[MEMORIES], redis_url=os.environ["REDIS_URL"], project="memory-sharing")
    client = await Client.connect(os.environ.get("TEMPORAL_ADDRESS", "localhost:7233"), plugins=[plugin])
    trip = uuid.uuid4().hex[:8]

    async def run(workflow: type[Turn | Overstep], *args: str | None) -> str:
        name = f"{workflow.__name__}-{uuid.uuid4().hex[:8]}".lower()
        answer: str = await client.execute_workflow(
            workflow.__name__, args=args, id=name, task_queue=TASK_QUEUE, result_type=str
        )
        return answer

    async with Worker(client, task_queue=TASK_QUEUE, workflows=[Turn, Overstep], activities=[think]):
        for agent, said in (("intake", "Two nights in Lyon."), ("booking", "Book it."), ("auditor", "All well?")):
            print(f"{agent}: {await run(Turn, agent, trip, said)}")
        for caller, operation in (
            ("auditor", "append"),
            ("booking", "append"),
            ("booking", "clear"),
            (None, "clear"),
            ("intake", "clear"),
        ):
            print(f"{caller or 'nobody'} tries {operation}: {await run(Overstep, caller, trip, operation)}")


if __name__ == "__main__":
    run_and_leave(main())  # the interpreter's own end sometimes aborts after a Temporal client was used
