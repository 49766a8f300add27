"""A history as it is stored: without what tells of the machine that recorded it, and without what no replay reads."""

from __future__ import annotations

import json
from typing import Any, Final

from temporalio.client import WorkflowHistory

_OF_THE_MACHINE: Final = frozenset({"binaryChecksum", "identity", "stackTrace", "workerVersion"})
_UNREAD: Final = frozenset({"meteringMetadata", "requestId", "taskId", "version"})


def stored_text(history: WorkflowHistory) -> str:
    """Returns the history as JSON, one event a line."""
    events = [json.dumps(_normal(event), ensure_ascii=False) for event in history.to_json_dict()["events"]]
    return '{"events": [\n' + ",\n".join(events) + "\n]}\n"


def _normal(value: Any) -> Any:
    if isinstance(value, list):
        return [_normal(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") == "TASK_QUEUE_KIND_STICKY":
        return {"name": "sticky", "kind": value["kind"]}  # its name holds the identity of the worker
    return {name: _normal(item) for name, item in value.items() if item != {} and name not in _OF_THE_MACHINE | _UNREAD}
