"""How workflow code starts our activities: requests are checked and sized before any command is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, ParamSpec, TypeVar, cast

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError

from durable_memory.activities import requests, wire
from durable_memory.activities.operations import Operation
from durable_memory.memory.types import (
    InvalidValue,
    MessageInput,
    as_messages,
    checked_texts,
    clean_json,
    refuse_broken_text,
)
from durable_memory.memory.types.answers import from_json
from durable_memory.workflows.options import check_options

_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")
_Value = TypeVar("_Value")
_Arguments = ParamSpec("_Arguments")

_RETRY = RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_interval=timedelta(seconds=10))
CALL = workflow.ActivityConfig(
    start_to_close_timeout=timedelta(seconds=10),
    schedule_to_close_timeout=timedelta(minutes=10),
    retry_policy=_RETRY,
)
LOCAL = workflow.LocalActivityConfig(
    start_to_close_timeout=timedelta(seconds=10),
    schedule_to_close_timeout=timedelta(minutes=10),
    retry_policy=_RETRY,
)
FLUSH = workflow.ActivityConfig(
    start_to_close_timeout=timedelta(minutes=10),
    schedule_to_close_timeout=timedelta(hours=1),
    heartbeat_timeout=timedelta(seconds=15),
    retry_policy=_RETRY,
)


@dataclass(frozen=True, slots=True)
class Calls:
    """Where and how the calls of one handle run.

    task_queue: the workflow's own by default. config: overrides of the timeouts and the retry policy.
    """

    task_queue: str | None = None
    config: workflow.ActivityConfig | None = None

    def __post_init__(self) -> None:
        """What Temporal would refuse to start fails the workflow, not its task for ever."""
        checked(check_options, self.task_queue, self.config, CALL)

    async def call(
        self,
        operation: Operation[_Request, _Answer],
        request: _Request,
        defaults: workflow.ActivityConfig = CALL,
    ) -> _Answer:
        """Runs an operation and returns its answer."""
        data = request_fields(request)
        check_size(operation.name, data)
        config = defaults.copy()
        if self.config is not None:
            config.update(self.config)
        if self.task_queue is not None:
            config["task_queue"] = self.task_queue
        answer = await workflow.execute_activity(operation.name, data, result_type=dict[str, Any], **config)
        return from_json(operation.answer, answer)


def request_fields(request: object, path: str = "") -> dict[str, Any]:
    """Returns the fields of a request that are set, checked. Messages were checked before, and are not copied."""
    data: dict[str, Any] = {}
    for item in fields(cast("Any", request)):
        value = getattr(request, item.name)
        if isinstance(value, requests.MemoryField):
            data[item.name] = request_fields(value, f"{item.name}.")
        elif item.name == "messages":
            data[item.name] = value
        elif value is not None:
            data[item.name] = checked_json(value, path + item.name)
    return data


def checked_json(value: object, path: str) -> Any:
    """Returns `value` as JSON data, unchanged; a value that JSON cannot hold, or broken text, fails the workflow."""
    data = checked(clean_json, value, path)
    checked(refuse_broken_text, value, path)
    return data


def wire_messages(value: MessageInput | Sequence[MessageInput]) -> list[dict[str, Any]]:
    """Returns messages in the form of the wire contract; a value that it cannot hold fails the workflow."""
    return [cast("dict[str, Any]", message.to_dict()) for message in checked(as_messages, value)]


async def call_locally(operation: Operation[_Request, _Answer], request: _Request) -> _Answer:
    """Runs a read in a local activity. No write: its attempts may outlive the worker, and their names with it."""
    data = request_fields(request)
    answer = await workflow.execute_local_activity(operation.name, data, result_type=dict[str, Any], **LOCAL)
    return from_json(operation.answer, answer)


def wire_ids(value: Sequence[str]) -> list[str]:
    """Returns ids of messages, checked."""
    return list(checked(checked_texts, value))


def checked(check: Callable[_Arguments, _Value], *arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Value:
    """Runs a check, and fails the workflow if it refuses. Its own exception would fail the task without end."""
    try:
        return check(*arguments, **named)
    except InvalidValue as error:
        raise ApplicationError(str(error), type="MemoryInvalid", non_retryable=True) from None


def check_size(activity: str, data: dict[str, Any]) -> None:
    """Refuses a request that Temporal would not carry, and warns of one that makes a history large."""
    payloads = workflow.payload_converter().to_payloads([data])
    size = sum(len(payload.data) for payload in payloads)
    if size > wire.MAX_REQUEST_BYTES:
        raise ApplicationError(
            f"{activity}: the request is {size:,} bytes encoded, the limit is {wire.MAX_REQUEST_BYTES:,}: "
            "send messages in parts, or write them from an activity",
            type="MemoryInvalid",
            non_retryable=True,
        )
    if size > wire.WARN_REQUEST_BYTES:
        workflow.logger.warning(
            "%s: the request is %d bytes and stays in this workflow's history; write from an activity by reference",
            activity,
            size,
        )
