"""A marker that is planted wherever a user may say something, and where it must not come out again."""

from __future__ import annotations

import json
from typing import Any

from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHandle

from durable_memory.activities import wire

MARKER = "marley4711"
KEY = f"user:{MARKER}"

ARGUMENTS = json.dumps({"who": MARKER, MARKER: 1})
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": f"I am {MARKER}.", "name": MARKER, "metadata": {"note": MARKER, MARKER: 1}},
    {"role": "user", "content": [{"type": "text", "text": MARKER}, {"type": "note", MARKER: MARKER}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": MARKER, "type": "function", "function": {"name": MARKER, "arguments": ARGUMENTS}}],
    },
    {"role": "tool", "tool_call_id": MARKER, "content": f"{MARKER} lives here.", "name": MARKER},
]
"""Messages that hold it in every field."""

PLACE = {"resource": "thread", "key": KEY}
SPOKEN = {"role": "user", "content": f"{MARKER} said so"}

GOOD: tuple[tuple[str, dict[str, Any]], ...] = (
    (wire.APPEND, {"messages": MESSAGES, "operation_id": MARKER}),
    (wire.RECORD_TURN, {"messages": [SPOKEN, {"role": "assistant", "content": MARKER}]}),
    (wire.READ, {}),
    (wire.STATS, {}),
    (wire.HEALTH, {}),
    (wire.TOUCH, {"ids": ["0123456789abcdef-1-0000"]}),
    (wire.DELETE, {"ids": ["0123456789abcdef-1-0000"]}),
    (wire.APPEND, {"messages": [SPOKEN] * 120}),
    (wire.FLUSH, {"force": True}),
)
"""Calls that go well, on PLACE."""

BAD: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (wire.APPEND, "MemoryOversize", {"messages": [{"role": "user", "content": f"{MARKER} " * 900}]}),
    (wire.APPEND, "MemoryOperationConflict", {"messages": [SPOKEN], "operation_id": MARKER}),
    (wire.APPEND, "MemoryOrphanResult", {"messages": [{**MESSAGES[3], "tool_call_id": f"other-{MARKER}"}]}),
    (wire.APPEND, "MemoryOrphanResult", {"messages": [MESSAGES[3]]}),
    (wire.APPEND, "MemoryInvalid", {"messages": [{"role": MARKER, "content": MARKER}]}),
    (wire.APPEND, "MemoryInvalid", {"messages": [{"role": "user", "contnet": MARKER}]}),
    (wire.APPEND, "MemoryInvalid", {"messages": [{"role": "user", "content": MARKER, "metadata": MARKER}]}),
    (wire.APPEND, "MemoryInvalid", {"messages": MARKER}),
    (wire.APPEND, "MemoryInvalid", {"messages": [MARKER]}),
    (wire.APPEND, "MemoryInvalid", {"messages": [{"role": "assistant", "tool_calls": MARKER}]}),
    (wire.APPEND, "MemoryInvalid", {"messages": [{"role": "user", "content": [{"text": MARKER}]}]}),
    (wire.APPEND, "MemoryInvalid", {"messages": [SPOKEN], "operation_id": MARKER * 101}),
    (wire.WRITE, "MemoryConflict", {"messages": [SPOKEN], "if_version": "absent"}),
    (wire.WRITE, "MemoryInvalid", {"messages": [SPOKEN], "if_version": {"is": MARKER}}),
    (wire.READ, "MemoryInvalid", {"limit": MARKER}),
    (wire.READ, "MemoryInvalid", {"sections": [MARKER]}),
    (wire.DELETE, "MemoryInvalid", {"ids": [{"id": MARKER}]}),
    (wire.CLEAR, "MemoryInvalid", {"confirm": False}),
    (wire.READ, "MemoryKeyInvalid", {"memory": {"resource": "thread", "key": f" {MARKER}"}}),
    (wire.READ, "MemoryKeyInvalid", {"memory": {"resource": "thread", "key": MARKER * 50}}),
    (wire.READ, "MemoryKeyInvalid", {"memory": {"resource": "thread", "agent": "clerk", "input": {"name": MARKER}}}),
    (
        wire.READ,
        "MemoryKeyInvalid",
        {"memory": {"resource": "thread", "agent": "clerk", "input": {"user_id": f"\n{MARKER}"}}},
    ),
)
"""Calls that are refused, with the type of the error."""

_SAYS_WHAT_WAS_SAID = (wire.READ, wire.RECORD_TURN)


async def history_without_input(handle: WorkflowHandle[Any, Any]) -> str:
    """Returns all that a history says, apart from what callers passed in and what they asked to be told."""
    types: dict[int, str] = {}
    told = []
    async for event in handle.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            event.workflow_execution_started_event_attributes.ClearField("input")
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            scheduled = event.activity_task_scheduled_event_attributes
            types[event.event_id] = scheduled.activity_type.name
            scheduled.ClearField("input")
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
            completed = event.activity_task_completed_event_attributes
            if types[completed.scheduled_event_id] in _SAYS_WHAT_WAS_SAID:
                completed.ClearField("result")
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
            event.workflow_execution_completed_event_attributes.ClearField("result")  # the answer once more
        told.append(str(event))
    return "\n".join([handle.id, *told])
