"""Workflows that are measured: the same calls beside a no-op, and turns of a conversation in three shapes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import workflow

from durable_memory import AgentMemory, MemoryRef, Message

_CONFIG = workflow.ActivityConfig(
    start_to_close_timeout=timedelta(seconds=30), schedule_to_close_timeout=timedelta(minutes=10)
)
QUESTION = "Where is parcel {}? It was sent on 3 March and has not arrived; the customer asks for a refund."


@workflow.defn
class CallInTurn:
    """Calls one activity again and again with the same request."""

    @workflow.run
    async def run(self, activity: str, request: dict[str, Any], calls: int) -> None:
        """See class."""
        for _ in range(calls):
            await workflow.execute_activity(activity, request, result_type=dict[str, Any], **_CONFIG)


@workflow.defn
class TurnsByReference:
    """Passes the reference and the new text to the activity that reads, asks and records."""

    @workflow.run
    async def run(self, ref: MemoryRef, done: int, turns: int, turns_of_a_run: int) -> None:
        """Continues as new after `turns_of_a_run` turns."""
        memory = AgentMemory(ref)
        for number in range(done, min(done + turns_of_a_run, turns)):
            await workflow.execute_activity(
                "turn_by_reference", args=[memory.ref, QUESTION.format(number)], result_type=str, **_CONFIG
            )
        if done + turns_of_a_run < turns:
            workflow.continue_as_new(args=[ref, done + turns_of_a_run, turns, turns_of_a_run])


@workflow.defn
class TurnsThatRead:
    """Reads the view into the workflow, passes it to the model, and records the turn."""

    @workflow.run
    async def run(self, ref: MemoryRef, turns: int) -> None:
        """See class."""
        memory = AgentMemory(ref)
        for number in range(turns):
            view = await memory.read()
            question = QUESTION.format(number)
            answer = await workflow.execute_activity(
                "answer_to_view", args=[view.to_openai(), question], result_type=str, **_CONFIG
            )
            await memory.append([question, Message.assistant(answer)])


@workflow.defn
class TurnsWithTranscript:
    """Keeps the conversation in the workflow and passes all of it to the model."""

    @workflow.run
    async def run(self, turns: int) -> None:
        """See class."""
        transcript: list[dict[str, str]] = []
        for number in range(turns):
            question = QUESTION.format(number)
            answer = await workflow.execute_activity(
                "answer_to_view", args=[transcript, question], result_type=str, **_CONFIG
            )
            transcript += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


FLOWS: tuple[type, ...] = (CallInTurn, TurnsByReference, TurnsThatRead, TurnsWithTranscript)
