"""Activities as a user of the plugin writes them."""

from __future__ import annotations

import asyncio

from temporalio import activity

from durable_memory import MemoryRef, Message, current_memory_client
from tests.integration.temporal.flows.questions import Question

FAILS_ONCE = "This one fails once."


@activity.defn
async def model_turn(ref: MemoryRef, text: str) -> str:
    """Reads the view, asks a model that never says the same twice, and records the turn."""
    return await _turn(ref, text)


@activity.defn
async def answer_question(question: Question) -> str:
    """The same for an agent, on which a question holds the reference."""
    turn = await current_memory_client().agent(question.agents[0]).record_turn(question.text)
    return f"{len(turn.turns)} memories have it."


@activity.defn
async def careful_turn(ref: MemoryRef, text: str) -> str:
    """The same, but asks no model for a turn that is recorded."""
    recorded = await current_memory_client().memory(ref).recorded_turn()
    return f"recorded: {recorded.messages[-1].text}" if recorded else await _turn(ref, text)


async def _turn(ref: MemoryRef, text: str) -> str:
    memory = current_memory_client().memory(ref)
    view = await memory.read(max_tokens=1000)
    attempt = activity.info().attempt
    answer = f"Attempt {attempt} knew {len(view.messages)} messages."
    turn = await memory.record_turn([Message.user(text), Message.assistant(answer)])
    if text == FAILS_ONCE and attempt == 1:
        raise RuntimeError("the worker lost the answer")
    return turn.messages[-1].text


@activity.defn
async def wait_for_cancellation() -> None:
    """Waits until it is cancelled."""
    while True:
        activity.heartbeat()
        await asyncio.sleep(0.05)


USER_ACTIVITIES = (model_turn, answer_question, careful_turn, wait_for_cancellation)
