"""Makes activities of functions on requests, by the table of operations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from temporalio import activity

from durable_memory.activities.answers import JsonObject
from durable_memory.activities.operations import Operation
from durable_memory.activities.parsing import parse

_Request = TypeVar("_Request")

Activity: TypeAlias = Callable[[Any], Awaitable[JsonObject]]
"""An activity as a function: on a request in JSON."""


class Activities(dict[str, Activity]):
    """The activities of a module, by name, in the order of their definitions."""

    def serve(
        self, operation: Operation[_Request, Any]
    ) -> Callable[[Callable[[_Request], Awaitable[JsonObject]]], Activity]:
        """Makes an activity of the function below, which gets the request as it was read, and answers in JSON.

        The activity's own parameter has no type on purpose: the SDK would retry an activity whose argument it cannot
        convert for ever, while `parse` refuses it and names the field.
        """

        def define(run: Callable[[_Request], Awaitable[JsonObject]]) -> Activity:
            async def served(request: Any = None) -> JsonObject:
                return await run(parse(operation.request, request))

            # Not by functools.wraps: the SDK would follow it to the type of the parameter.
            served.__name__, served.__qualname__, served.__doc__ = run.__name__, run.__qualname__, run.__doc__
            self[operation.name] = activity.defn(name=operation.name)(served)
            return self[operation.name]

        return define
