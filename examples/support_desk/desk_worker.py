"""The worker of the desk, a process of its own: an ordinary Temporal worker whose client has the plugin."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path

from desk_agents import TASK_QUEUE, BillingWorkflow, TriageWorkflow
from script import load_conversation
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory import MemoryPlugin, MemoryRef, RuleBasedSummarizer, SummaryRequest, current_memory_client
from durable_memory.exit import run_and_leave

MEMORIES = Path(__file__).with_name("memories")
THINKING_SECONDS = 0.2
SUMMARIZING_SECONDS = 1.5

conversation = load_conversation()


class UnhurriedSummarizer(RuleBasedSummarizer):
    """The rule-based summariser, taking the time that a language model would."""

    async def summarize(self, request: SummaryRequest) -> str:
        """Waits, then summarises."""
        await asyncio.sleep(SUMMARIZING_SECONDS)
        return await super().summarize(request)


@activity.defn
async def answer(ref: MemoryRef, turn_id: str) -> str:
    """One turn: reads a view that fits the model, asks the model (which plays the script back), records the turn.

    An attempt whose turn is recorded asks nobody again.
    """
    turn = conversation.turn(turn_id)
    memory = current_memory_client().memory(ref)
    recorded = await memory.recorded_turn()  # by an attempt before this one
    view = await memory.read(max_tokens=3000)
    if recorded is None or not recorded.messages:
        await asyncio.sleep(THINKING_SECONDS)
        recorded = await memory.record_turn(turn.messages)
    prompt = "\n".join(message.text for message in view.messages)
    tell(
        {
            "turn": turn_id,
            "agent": turn.agent,
            "attempt": activity.info().attempt,
            "view_tokens": view.tokens,
            "view_messages": len(view.messages),
            "evicted": recorded.result.evicted,
            "facts": {fact.question: fact.known_in(prompt) for fact in conversation.facts if fact.needed_in == turn_id},
        }
    )
    return recorded.messages[-1].text


def tell(event: Mapping[str, object]) -> None:
    """Tells the demo what happened, one JSON object a line."""
    print(json.dumps(event), flush=True)


async def main() -> None:
    """Serves the desk until SIGTERM."""
    plugin = MemoryPlugin(memories=[MEMORIES], project="support-desk", summarizer=UnhurriedSummarizer())
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"], plugins=[plugin])
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with Worker(client, task_queue=TASK_QUEUE, workflows=[TriageWorkflow, BillingWorkflow], activities=[answer]):
        await stop.wait()


if __name__ == "__main__":
    run_and_leave(main())
