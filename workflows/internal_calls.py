"""How the product's own workflows start its activities: by the table of operations, as callers do by the handles."""

from __future__ import annotations

from typing import Any, TypeVar

from temporalio import workflow

from durable_memory.activities.operations import Operation
from durable_memory.memory.types.answers import from_json, to_json

_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")


async def call_internal(
    operation: Operation[_Request, _Answer], request: _Request, config: workflow.ActivityConfig
) -> _Answer:
    """Runs an internal operation and returns its answer."""
    answer = await workflow.execute_activity(operation.name, as_sent(request), result_type=dict[str, Any], **config)
    return from_json(operation.answer, answer)


def as_sent(request: object) -> dict[str, Any]:
    """Returns an internal request as JSON; without `contract`, which no release has sent in these."""
    data: dict[str, Any] = to_json(request)
    del data["contract"]
    return data
