"""A conversation of many turns, whose workflow continues as new now and then."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

from durable_memory import AgentMemory


@workflow.defn
class LongTalk:
    """Passes the reference and each new text to one activity."""

    @workflow.run
    async def run(self, key: str, done: int, turns: int, turns_of_a_run: int) -> None:
        """See class; `done` turns were made by earlier runs."""
        memory = AgentMemory("chat", key=key)
        for number in range(done, done + turns_of_a_run):
            await workflow.execute_activity(
                "model_turn",
                args=[memory.ref, f"Question {number:04}: where is my parcel?"],
                result_type=str,
                start_to_close_timeout=timedelta(seconds=20),
            )
        if done + turns_of_a_run < turns:
            workflow.continue_as_new(args=[key, done + turns_of_a_run, turns, turns_of_a_run])
