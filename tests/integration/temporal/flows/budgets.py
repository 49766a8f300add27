"""Workflows on memories with divided, cutting and model-sized budgets."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

from durable_memory import AgentMemory, Message


@workflow.defn
class PlanATrip:
    """Books, talks far longer than the talk may be, and books again."""

    @workflow.run
    async def run(self, key: str, talk: list[str]) -> dict[str, Any]:
        """Returns what stands in the sections, what they may fill, and how messages that fit no section ended."""
        memory = AgentMemory("trip", key=key)
        await memory.append([Message.system("Be brief."), Message.user("Hotel Lux, 3 to 5 May", section="bookings")])
        for text in talk:
            await memory.append(text)
        await memory.record_turn([Message.assistant("Flight AZ 611", section="bookings"), Message.assistant("Done.")])
        ends = []
        for message in (
            Message.user("Hotel " * 200, section="bookings"),
            Message.user("Two seats", section="booking"),
        ):
            try:
                await memory.append(message)
            except ActivityError as error:
                cause = error.cause
                ends.append((str(cause.type), cause.message) if isinstance(cause, ApplicationError) else ("", ""))
        booked = await memory.read(sections=["bookings"])
        stats = await memory.stats()
        return {
            "booked": [(message.section, message.text) for message in booked.messages],
            "shares": dict(stats.shares),
            "tokens": dict(stats.tokens),
            "messages": dict(stats.messages),
            "refused": ends,
        }


@workflow.defn
class TellBudget:
    """Tells what a memory may hold."""

    @workflow.run
    async def run(self, resource: str) -> int | None:
        """See class."""
        return (await AgentMemory(resource, key="user:1").stats()).max_tokens


@workflow.defn
class AppendOne:
    """Appends one text and reads it."""

    @workflow.run
    async def run(self, resource: str, key: str, text: str) -> dict[str, Any]:
        """Returns the tokens of the append, and the message as a read shows it."""
        memory = AgentMemory(resource, key=key)
        appended = await memory.append(text)
        [message] = (await memory.read()).messages
        return {"tokens": appended.tokens, "message": message.to_dict()}


@workflow.defn
class CallByName:
    """Sends requests as they are, one after the other, as a caller in another language does."""

    @workflow.run
    async def run(self, requests: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
        """Returns the answers."""
        return [
            await workflow.execute_activity(
                activity,
                request,
                start_to_close_timeout=timedelta(seconds=10),
                retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=200)),
                result_type=dict[str, Any],
            )
            for activity, request in requests
        ]


BUDGETS: tuple[type, ...] = (PlanATrip, AppendOne, CallByName)
