"""A workflow that passes on a handle inside another value, by each way there is."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio import workflow

from durable_memory import Agent, AgentMemory

with workflow.unsafe.imports_passed_through():
    from pydantic import BaseModel, ConfigDict, Field


@dataclass
class Box:
    """A dataclass with a field for anything."""

    inside: Any


class Model(BaseModel):
    """A model with a field for anything, and one that is encoded by nothing."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="allow")
    inside: Any = None
    own: Any = Field(default=None, exclude=True)


def boxed(how: str, handle: AgentMemory | Agent) -> Any:
    """Returns a value that holds the handle."""
    return {
        "list": [["text", handle]],
        "tuple": (1, (handle,)),
        "set": {"inside": {handle}},
        "deque": deque([handle]),
        "value": {"a": {"b": handle}},
        "key": {"a": {handle: "b"}},
        "dataclass": [Box(Box(handle))],
        "model": [Model(inside=handle)],
        "extra": Model.model_validate({"more": handle}),
        "behind much": [list(range(9_000)), {"a": [handle]}],
    }[how]


@workflow.defn
class PassABox:
    """Passes on a value that holds a handle."""

    @workflow.signal
    def take(self, value: Any) -> None:
        """Takes a value and has no use for it."""

    @workflow.signal
    def note(self, how: str) -> None:
        """Puts a value that holds a handle in the memo, in a handler."""
        workflow.upsert_memo({"a": boxed(how, AgentMemory("chat", key="anna"))})

    @workflow.run
    async def run(self, route: str, how: str) -> Any:
        """See class."""
        value = boxed(how, Agent("clerk") if how == "list" else AgentMemory("chat", key="anna"))
        await self._call(route, value)
        if route == "continue-as-new":
            workflow.continue_as_new(args=[route, value])
        if route == "memo of continue-as-new":
            workflow.continue_as_new(args=[route, how], memo={"a": value})
        if route == "memo":
            workflow.upsert_memo({"a": value})
        if route == "memo in a handler":
            await workflow.wait_condition(lambda: False)
        return value

    async def _call(self, route: str, value: Any) -> None:
        soon = timedelta(seconds=5)
        if route == "activity":
            await workflow.execute_activity("memory.read", value, start_to_close_timeout=soon)
        if route == "local activity":
            await workflow.execute_local_activity("memory.read", value, start_to_close_timeout=soon)
        if route == "child":
            await workflow.execute_child_workflow("Any", value)
        if route == "memo of a child":
            await workflow.execute_child_workflow("Any", memo={"a": value})
        if route == "signal":
            await workflow.get_external_workflow_handle("another").signal("take", value)
        if route == "service":
            await workflow.create_nexus_client(service="any", endpoint="any").execute_operation("any", value)


@workflow.defn
class AnswerReferences:
    """Answers values that hold references, and more than is looked at."""

    @workflow.run
    async def run(self) -> Any:
        """See class."""
        return [Box(AgentMemory("chat", key="anna").ref), Box(Agent("clerk").ref), list(range(20_000))]


@workflow.defn
class KeepAHandle:
    """Answers a model that keeps a handle for itself."""

    @workflow.run
    async def run(self) -> Model:
        """See class."""
        return Model(inside="text", own=AgentMemory("chat", key="anna"))
