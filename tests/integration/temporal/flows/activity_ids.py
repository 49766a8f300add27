"""Workflows whose activities have ids that say less than they seem to."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

from durable_memory import AgentMemory

_TURN = workflow.ActivityConfig(
    activity_id="turn",
    start_to_close_timeout=timedelta(seconds=20),
    retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=10)),
)


@workflow.defn
class TalkUnderOneId:
    """Gives all of its activities one id, which is free again when each has ended."""

    @workflow.run
    async def run(self, key: str, texts: list[str]) -> list[str]:
        """Returns the answers."""
        memory = AgentMemory("chat", key=key)
        answers = []
        for text in texts:
            answer: str = await workflow.execute_activity(
                "model_turn", args=[memory.ref, text], result_type=str, **_TURN
            )
            answers.append(answer)
            noted = {
                "memory": {"resource": "chat", "key": key},
                "messages": [{"role": "user", "content": f"Noted: {text}"}],
            }
            # By its name: a handle refuses an id.
            await workflow.execute_activity(
                "memory.append", noted, activity_id="memory", start_to_close_timeout=timedelta(seconds=20)
            )
        return answers


@workflow.defn
class TalkHere:
    """Takes turns in local activities, whose pause before the next attempt is a timer."""

    @workflow.run
    async def run(self, key: str, texts: list[str]) -> list[str]:
        """Returns the answers."""
        memory = AgentMemory("chat", key=key)
        return [
            await workflow.execute_local_activity(
                "model_turn",
                args=[memory.ref, text],
                result_type=str,
                start_to_close_timeout=timedelta(seconds=20),
                retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1)),
                local_retry_threshold=timedelta(milliseconds=10),
            )
            for text in texts
        ]


UNDER_IDS: tuple[type, ...] = (TalkUnderOneId, TalkHere)
