"""Workflows and activities of these tests, as a user of the plugin writes them."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from temporalio import activity, workflow

from durable_memory import AgentMemory, MemoryRef, current_memory_client

LONG = "so many words that they are counted in a thread " * 1_000


@activity.defn
async def talk_to_both(first: MemoryRef, second: MemoryRef) -> None:
    """Records a turn in two memories at the same time. Each attempt says something else, the last one in one only."""
    attempt = activity.info().attempt
    texts = {1: (LONG, "short"), 2: ("short", LONG), 3: (None, "more")}[attempt]
    memories = [current_memory_client().memory(ref) for ref in (first, second)]
    said = zip(memories, texts, strict=True)
    await asyncio.gather(*(memory.record_turn(text) for memory, text in said if text is not None))
    if attempt <= 2:
        raise RuntimeError("the worker lost the answer")


@workflow.defn
class TalkToBoth:
    """Runs `talk_to_both` until it is done."""

    @workflow.run
    async def run(self, first: str, second: str) -> None:
        refs = [AgentMemory("archive", key=key).ref for key in (first, second)]
        await workflow.execute_activity(talk_to_both, args=refs, start_to_close_timeout=timedelta(seconds=30))


@workflow.defn
class Call:
    """Starts an activity by its name with a request as it is, as a caller in another language does."""

    @workflow.run
    async def run(self, name: str, request: Any) -> Any:
        return await workflow.execute_activity(name, request, schedule_to_close_timeout=timedelta(seconds=60))


@workflow.defn
class LookedAt:
    """Draws random ids around a wait, and makes handles in a query and in the validator of an update."""

    def __init__(self) -> None:
        self._go_on = False

    @workflow.run
    async def run(self, key: str) -> list[str]:
        drawn = [str(workflow.uuid4())]
        await workflow.wait_condition(lambda: self._go_on)
        await AgentMemory("chat", key=key).append("One message.")
        return [*drawn, str(workflow.uuid4())]

    @workflow.query
    def memory(self) -> str | None:
        return AgentMemory("chat", key="of a query").ref.key

    @workflow.update
    def go_on(self) -> None:
        self._go_on = True

    @go_on.validator
    def check(self) -> None:
        AgentMemory("chat", key="of a validator")


FLOWS = (TalkToBoth, Call, LookedAt)
ACTIVITIES = (talk_to_both,)
