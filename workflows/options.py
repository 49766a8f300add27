"""What Temporal takes as the options of a call: anything else would fail the task of the workflow without end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from temporalio import workflow
from temporalio.api.common.v1 import RetryPolicy as WireRetryPolicy
from temporalio.api.enums.v1 import TimeoutType
from temporalio.common import Priority, RetryPolicy

from durable_memory.activities import wire
from durable_memory.memory.types import (
    InvalidValue,
    check_task_queue,
    refuse_broken_text,
    refuse_unknown,
)

_NAME: Final = "activity_config"
_MAX_INT32: Final = 2**31 - 1
_MAX_FAIRNESS_KEY_BYTES: Final = 64

_TIMEOUT_ERROR: Final = "TemporalTimeout:"
"""How a timeout is named among the types of errors; the server refuses what it does not know behind it."""
_TIMEOUTS: Final = frozenset(
    name
    for full in TimeoutType.keys()  # noqa: SIM118 - an enum of protobuf is no dict
    for name in (full, full.removeprefix("TIMEOUT_TYPE_").title().replace("_", ""))
)


def check_options(task_queue: object, config: object, defaults: workflow.ActivityConfig) -> None:
    """Raises InvalidValue for a task queue, or overrides of `defaults`, with which no activity could be started."""
    if task_queue is not None:
        check_task_queue(task_queue, "task_queue")
    if config is None:
        return
    if not isinstance(config, dict):
        raise InvalidValue(_NAME, f"is a workflow.ActivityConfig, not a {type(config).__name__}")
    refuse_unknown(config, list(workflow.ActivityConfig.__annotations__), _NAME, "workflow.ActivityConfig")
    for name, value in config.items():
        if value is not None or name not in MAY_BE_NONE:
            CHECKS.get(name, _nothing)(value, f"{_NAME}.{name}")
    both: Mapping[str, object] = {**defaults, **config}
    if both.get("start_to_close_timeout") is None and both.get("schedule_to_close_timeout") is None:
        raise InvalidValue(_NAME, "leaves neither start_to_close_timeout nor schedule_to_close_timeout")


def _nothing(value: object, path: str) -> None:
    """What a later SDK takes beside these is its own to check."""


def _timeout(value: object, path: str) -> None:
    if not isinstance(value, timedelta) or value <= timedelta():
        raise InvalidValue(path, "is a timedelta above zero")


def _retry_policy(value: object, path: str) -> None:
    if not isinstance(value, RetryPolicy):
        raise InvalidValue(path, f"is a RetryPolicy, not a {type(value).__name__}")
    _interval(value.initial_interval, f"{path}.initial_interval")
    if value.maximum_interval is not None:
        _interval(value.maximum_interval, f"{path}.maximum_interval")
    _number(value.backoff_coefficient, f"{path}.backoff_coefficient")
    _int32(value.maximum_attempts, f"{path}.maximum_attempts")
    if value.non_retryable_error_types is not None:
        _error_types(value.non_retryable_error_types, f"{path}.non_retryable_error_types")
    try:
        value.apply_to_proto(WireRetryPolicy())
    except OverflowError:
        raise InvalidValue(path, "has an interval that is too long") from None
    except ValueError as error:  # whose sentences name fields alone, now that the types are right
        raise InvalidValue(path, f"cannot be used: {error}") from None


def _interval(value: object, path: str) -> None:
    if not isinstance(value, timedelta):
        raise InvalidValue(path, f"is a timedelta, not a {type(value).__name__}")


def _number(value: object, path: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidValue(path, f"is a number, not a {type(value).__name__}")
    if not math.isfinite(value):
        raise InvalidValue(path, "is a finite number")


def _int32(value: object, path: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidValue(path, f"is a whole number, not a {type(value).__name__}")
    if value > _MAX_INT32:
        raise InvalidValue(path, f"is at most {_MAX_INT32:,}")


def _error_types(value: object, path: str) -> None:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidValue(path, f"is a list of names, not a {type(value).__name__}")
    for position, name in enumerate(value):
        where = f"{path}[{position}]"
        kind = _text(name, where).removeprefix(_TIMEOUT_ERROR)
        if kind != name and kind not in _TIMEOUTS:
            raise InvalidValue(where, "names no timeout that Temporal knows")


def _priority(value: object, path: str) -> None:
    if not isinstance(value, Priority):
        raise InvalidValue(path, f"is a Priority, not a {type(value).__name__}")
    if value.priority_key is not None:
        _int32(value.priority_key, f"{path}.priority_key")
    if value.fairness_key is not None:
        key = f"{path}.fairness_key"
        _within(_text(value.fairness_key, key), key, _MAX_FAIRNESS_KEY_BYTES)
    if value.fairness_weight is not None:
        _number(value.fairness_weight, f"{path}.fairness_weight")
        if value.fairness_weight < 0:
            raise InvalidValue(f"{path}.fairness_weight", "is not below zero")


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise InvalidValue(path, f"is text, not a {type(value).__name__}")
    refuse_broken_text(value, path)
    return value


def _within(value: str, path: str, longest: int) -> None:
    size = len(value.encode())
    if size > longest:
        raise InvalidValue(path, f"has {size:,} bytes, the limit is {longest:,}")


def _summary(value: object, path: str) -> None:
    _within(_text(value, path), path, wire.MAX_REQUEST_BYTES)


def _activity_id(_value: object, path: str) -> None:
    raise InvalidValue(path, "would be that of each call of this handle, and of two at a time one fails; leave it out")


def _cancellation_type(value: object, path: str) -> None:
    if not isinstance(value, workflow.ActivityCancellationType):
        raise InvalidValue(path, f"is a workflow.ActivityCancellationType, not a {type(value).__name__}")


def _versioning_intent(value: object, path: str) -> None:
    if not isinstance(value, workflow.VersioningIntent):
        raise InvalidValue(path, f"is a workflow.VersioningIntent, not a {type(value).__name__}")


def _event_groups(value: object, path: str) -> None:
    groups: Sequence[object] = value if isinstance(value, (list, tuple)) else [value]
    if groups is not value or not all(isinstance(group, workflow.EventGroup) for group in groups):
        raise InvalidValue(path, "is a list of what workflow.create_event_group() returns")


CHECKS: Final[Mapping[str, Callable[[Any, str], None]]] = {
    "task_queue": check_task_queue,
    "schedule_to_close_timeout": _timeout,
    "schedule_to_start_timeout": _timeout,
    "start_to_close_timeout": _timeout,
    "heartbeat_timeout": _timeout,
    "retry_policy": _retry_policy,
    "cancellation_type": _cancellation_type,
    "activity_id": _activity_id,
    "versioning_intent": _versioning_intent,
    "summary": _summary,
    "event_groups": _event_groups,
    "priority": _priority,
}
"""The check of each key of workflow.ActivityConfig."""

MAY_BE_NONE: Final = frozenset(CHECKS) - {"cancellation_type"}
"""The keys for which None says that nothing is given."""
