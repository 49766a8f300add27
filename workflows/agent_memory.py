"""The handle on a memory inside a workflow: each method is one activity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import timedelta
from typing import Any, cast

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError

from durable_memory.activities import wire
from durable_memory.memory.types import (
    AppendResult,
    ClearResult,
    DeleteResult,
    FlushResult,
    InvalidValue,
    MemoryHealth,
    MemoryRef,
    MemoryStats,
    MessageInput,
    Section,
    Turn,
    View,
    as_messages,
    checked_ids,
    clean_json,
)
from durable_memory.memory.types.answers import from_json, health_from_json, stats_from_json, turn_from_json
from durable_memory.workflows.use import mark_used

_RETRY = RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_interval=timedelta(seconds=10))
_CALL = workflow.ActivityConfig(
    start_to_close_timeout=timedelta(seconds=10),
    schedule_to_close_timeout=timedelta(minutes=10),
    retry_policy=_RETRY,
)
_LOCAL = workflow.LocalActivityConfig(
    start_to_close_timeout=timedelta(seconds=10),
    schedule_to_close_timeout=timedelta(minutes=10),
    retry_policy=_RETRY,
)
_FLUSH = workflow.ActivityConfig(
    start_to_close_timeout=timedelta(minutes=10),
    schedule_to_close_timeout=timedelta(hours=1),
    heartbeat_timeout=timedelta(seconds=15),
    retry_policy=_RETRY,
)


class AgentMemory:
    """A memory as a workflow uses it.

    resource: id of a declared memory. Its key is `key`, or what the worker renders from `input` with the key
    template of the agent or the resource. agent: the declared agent that calls; it signs its messages. task_queue:
    where the calls run, the workflow's own queue by default. activity_config: overrides of the timeouts and the
    retry policy.

    A call that fails for good raises Temporal's ActivityError; the `type` of its cause is one of the names in
    `durable_memory.memory.errors`. Input that could not be carried (bytes, NaN, unknown roles, more than 1.5 MB)
    raises an ApplicationError of type MemoryInvalid before any command is made.
    """

    def __init__(
        self,
        resource: str,
        *,
        key: str | None = None,
        input: Mapping[str, Any] | None = None,  # noqa: A002 - the word of the YAML templates
        agent: str | None = None,
        task_queue: str | None = None,
        activity_config: workflow.ActivityConfig | None = None,
    ) -> None:
        variables = None if input is None else cast("dict[str, Any]", _checked(clean_json, input, "input"))
        self._ref = MemoryRef(resource, key=key, input=variables, agent=agent)
        self._task_queue = task_queue
        self._config = activity_config or workflow.ActivityConfig()
        mark_used()

    @property
    def ref(self) -> MemoryRef:
        """A small reference to pass to an activity, which opens it with `current_memory_client().memory(ref)`."""
        return self._ref

    async def append(
        self, messages: MessageInput | Sequence[MessageInput], *, operation_id: str | None = None
    ) -> AppendResult:
        """Appends messages (text is a user message), all or none; see Memory.append."""
        request = wire.AppendRequest(self._memory(), _wire_messages(messages), operation_id)
        return from_json(AppendResult, await self._call(wire.APPEND, request))

    async def record_turn(
        self, messages: MessageInput | Sequence[MessageInput], *, operation_id: str | None = None
    ) -> Turn:
        """Appends the messages of one turn and returns what the memory holds for it; see Memory.record_turn.

        The turn becomes part of the workflow's history twice: record it in the activity that calls the model where
        you can.
        """
        request = wire.RecordTurnRequest(self._memory(), _wire_messages(messages), operation_id)
        return turn_from_json(await self._call(wire.RECORD_TURN, request))

    async def read(
        self,
        *,
        limit: int | None = None,
        max_tokens: int | None = None,
        sections: Sequence[Section] | None = None,
        ids: Sequence[str] | None = None,
        local: bool = False,
    ) -> View:
        """Returns the view.

        See Memory.read. The view becomes part of the workflow's history: pass `ref` where you can. local: read in a
        local activity, on this worker and with fewer events; it takes none of the handle's `task_queue` and
        `activity_config`.
        """
        request = wire.ReadRequest(
            self._memory(),
            limit=limit,
            max_tokens=max_tokens,
            sections=None if sections is None else list(sections),
            ids=None if ids is None else _ids(ids),
        )
        if local:
            return View.from_dict(await _call_here(wire.READ, request))
        return View.from_dict(await self._call(wire.READ, request))

    async def write(
        self,
        messages: MessageInput | Sequence[MessageInput],
        *,
        if_version: str | None = None,
        operation_id: str | None = None,
    ) -> AppendResult:
        """Replaces the memory by `messages`; see Memory.write."""
        request = wire.WriteRequest(self._memory(), _wire_messages(messages), if_version, operation_id)
        return from_json(AppendResult, await self._call(wire.WRITE, request))

    async def touch(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Records an access to these messages, for lru, lfu and token_aware_lru; returns the ids that are live."""
        answer = await self._call(wire.TOUCH, wire.TouchRequest(self._memory(), _ids(ids)))
        return tuple(answer["touched"])

    async def pin(self, ids: Sequence[str], *, operation_id: str | None = None) -> tuple[str, ...]:
        """Keeps these messages with their groups in the view until they are unpinned; see Memory.pin."""
        answer = await self._call(wire.PIN, wire.PinRequest(self._memory(), _ids(ids), operation_id))
        return tuple(answer["touched"])

    async def unpin(self, ids: Sequence[str], *, operation_id: str | None = None) -> tuple[str, ...]:
        """Lets these messages go like others again; see Memory.unpin."""
        answer = await self._call(wire.UNPIN, wire.PinRequest(self._memory(), _ids(ids), operation_id))
        return tuple(answer["touched"])

    async def delete(self, ids: Sequence[str], *, operation_id: str | None = None) -> DeleteResult:
        """Removes messages with their whole groups; see Memory.delete."""
        request = wire.DeleteRequest(self._memory(), _ids(ids), operation_id)
        return from_json(DeleteResult, await self._call(wire.DELETE, request))

    async def clear(self, *, confirm: bool, operation_id: str | None = None) -> ClearResult:
        """Removes everything; see Memory.clear."""
        request = wire.ClearRequest(self._memory(), confirm, operation_id)
        return from_json(ClearResult, await self._call(wire.CLEAR, request))

    async def flush(self, *, force: bool = False, operation_id: str | None = None) -> FlushResult:
        """Runs one flush now and waits for it; see Memory.flush. The background needs no such call."""
        request = wire.FlushRequest(self._memory(), force, operation_id)
        return from_json(FlushResult, await self._call(wire.FLUSH, request, _FLUSH))

    async def stats(self) -> MemoryStats:
        """Returns the counters."""
        return stats_from_json(await self._call(wire.STATS, wire.MemoryRequest(self._memory())))

    async def health(self) -> MemoryHealth:
        """Tells whether the memory can do its work."""
        return health_from_json(await self._call(wire.HEALTH, wire.MemoryRequest(self._memory())))

    def _memory(self) -> wire.MemoryField:
        return wire.MemoryField(self._ref.resource, self._ref.key, self._ref.input, self._ref.agent)

    async def _call(
        self, activity: str, request: wire.Request, defaults: workflow.ActivityConfig = _CALL
    ) -> dict[str, Any]:
        data = _fields(request)
        _check_size(activity, data)
        config = defaults.copy()
        config.update(self._config)
        if self._task_queue is not None:
            config["task_queue"] = self._task_queue
        answer: dict[str, Any] = await workflow.execute_activity(activity, data, result_type=dict[str, Any], **config)
        return answer


def _fields(request: object, path: str = "") -> dict[str, Any]:
    """The fields of a request that are set, checked. Messages, which have been checked, are not copied."""
    data: dict[str, Any] = {}
    for item in fields(cast("Any", request)):
        value = getattr(request, item.name)
        if isinstance(value, wire.MemoryField):
            data[item.name] = _fields(value, f"{item.name}.")
        elif item.name == "messages":
            data[item.name] = value
        elif value is not None:
            data[item.name] = _checked(clean_json, value, path + item.name)
    return data


def _wire_messages(value: MessageInput | Sequence[MessageInput]) -> list[dict[str, Any]]:
    return [cast("dict[str, Any]", message.to_dict()) for message in _checked(as_messages, value)]


async def _call_here(activity: str, request: wire.Request) -> dict[str, Any]:
    """Runs a read in a local activity. No write: its attempts may outlive the worker, and their names with it."""
    answer: dict[str, Any] = await workflow.execute_local_activity(
        activity, _fields(request), result_type=dict[str, Any], **_LOCAL
    )
    return answer


def _ids(value: Sequence[str]) -> list[str]:
    return list(_checked(checked_ids, value))


def _checked(check: Any, *arguments: object) -> Any:
    """Runs a check of the value types; what it refuses fails the workflow, not its task for ever."""
    try:
        return check(*arguments)
    except InvalidValue as error:
        raise ApplicationError(str(error), type="MemoryInvalid", non_retryable=True) from None


def _check_size(activity: str, data: dict[str, Any]) -> None:
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
