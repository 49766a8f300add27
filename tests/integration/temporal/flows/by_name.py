"""Workflows that send what a caller in another language may send, and what no caller can."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

from durable_memory import Agent, AgentMemory, Message


@workflow.defn
class CallByName:
    """Sends a request as it is, as a caller in another language does; None is no limit of attempts."""

    @workflow.run
    async def run(self, activity: str, request: Any, maximum_attempts: int = 0) -> Any:
        """See class."""
        return await workflow.execute_activity(
            activity,
            request,
            start_to_close_timeout=timedelta(seconds=10),
            schedule_to_close_timeout=timedelta(seconds=60),
            retry_policy=RetryPolicy(
                initial_interval=timedelta(milliseconds=10),
                backoff_coefficient=1,
                maximum_attempts=maximum_attempts,
            ),
        )


@workflow.defn
class CallWithTwoArguments:
    """Starts an activity as if it took its fields one by one."""

    @workflow.run
    async def run(self, activity: str) -> Any:
        """See class."""
        return await workflow.execute_activity(
            activity, args=["chat", "anna"], start_to_close_timeout=timedelta(seconds=10)
        )


@workflow.defn
class AppendWhatCannotBeCarried:
    """Tries to append values that JSON bends or Temporal refuses."""

    @workflow.run
    async def run(self, case: str) -> None:
        """See class."""
        values: dict[str, Any] = {
            "3 MB": "x" * 3_000_000,
            "2.2 MB": Message.user("x" * 2_200_000),
            "emoji": "\N{GRINNING FACE}" * 200_000,
            "bytes": b"raw",
            "bytes in metadata": {"role": "user", "content": "x", "metadata": {"raw": b"x"}},
            "set": {"a", "b"},
            "set in metadata": {"role": "user", "content": "x", "metadata": {"tags": {"a"}}},
            "NaN": {"role": "user", "content": "x", "metadata": {"price": float("nan")}},
            "unknown role": {"role": "robot", "content": "x"},
            "misspelt field": {"role": "user", "contnet": "x"},
            "nothing": [],
            "empty": "",
            "a number": 7,
        }
        await AgentMemory("chat", key="never").append(values[case])


@workflow.defn
class AskWhatCannotBeCarried:
    """Tries to name a memory, an operation or messages by values that are no JSON."""

    @workflow.run
    async def run(self, case: str) -> None:
        """See class."""
        nothing: Any = object()
        memory = AgentMemory("chat", key="never")
        if case == "key":
            await AgentMemory("chat", key=nothing).read()
        if case == "bytes as key":
            raw: Any = b"never"
            await AgentMemory("chat", key=raw).read()
        if case == "input":
            await AgentMemory("chat", input={"user_id": nothing}).read()
        if case == "input that is text":
            words: Any = "anna"
            await AgentMemory("chat", input=words).read()
        if case == "operation":
            await memory.append("Hello.", operation_id=nothing)
        if case == "ids":
            await memory.touch([nothing])
        if case == "limit":
            await memory.read(limit=nothing)
        if case == "sections":
            await memory.read(sections=nothing)


@workflow.defn
class NameByBrokenText:
    """Tries to name a memory or an operation by what is no valid text."""

    @workflow.run
    async def run(self, case: str) -> None:
        """See class."""
        broken = "half\ud83d"
        calls: dict[str, Callable[[], Awaitable[object]]] = {
            "key": lambda: AgentMemory("chat", key=broken).append("Hello."),
            "input": lambda: AgentMemory("chat", input={"user": {"ids": [broken]}}).append("Hello."),
            "operation": lambda: AgentMemory("chat", key="never").append("Hello.", operation_id="a\0"),
            "input of an agent": lambda: Agent("booking", input={"trip_id": broken}).context(),
        }
        await calls[case]()


STRANGE: tuple[type, ...] = (
    CallByName,
    CallWithTwoArguments,
    AppendWhatCannotBeCarried,
    AskWhatCannotBeCarried,
    NameByBrokenText,
)
