"""Answers of activities: results as JSON, and views that Temporal can carry."""

from __future__ import annotations

from typing import Any, TypeAlias

from temporalio import activity

from durable_memory.activities import wire
from durable_memory.memory.errors import MemoryOversize
from durable_memory.memory.types.answers import to_json

JsonObject: TypeAlias = dict[str, Any]
"""What an activity takes and answers."""


def answer_of(result: object) -> JsonObject:
    """Returns a result as JSON."""
    data: JsonObject = to_json(result)
    return data


def carried(whose: str, answer: JsonObject) -> JsonObject:
    """Returns a view or a context. Refuses one that Temporal would not carry: the next attempt would give the same."""
    if not activity.in_activity():
        return answer
    converter = activity.payload_converter()
    size = sum(len(payload.data) for payload in converter.to_payloads([answer]))
    if size > wire.MAX_REQUEST_BYTES:
        raise MemoryOversize(
            f"{whose}: the view is {size:,} bytes encoded, the limit is {wire.MAX_REQUEST_BYTES:,}: read "
            "less with max_tokens or limit, or read it in an activity of your own by reference"
        )
    return answer
