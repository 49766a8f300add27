"""Spans of the calls on a memory, through the OpenTelemetry API and by its conventions for generative AI.

A memory stands in a span as the id of its resource and a keyed hash of its identity. Keys never do, and what was said
only where the user asks for it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextvars import Token
from typing import Final

from opentelemetry import context, trace
from opentelemetry.trace import ProxyTracerProvider, SpanKind, StatusCode

from durable_memory.memory.errors import type_of
from durable_memory.memory.hashing import memory_hash
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.operation_names import OperationName
from durable_memory.memory.types import Message

OPERATION_NAMES: Final[Mapping[OperationName, str]] = {
    "append": "create_memory",
    "record_turn": "create_memory",
    "write": "update_memory",
    "touch": "update_memory",
    "pin": "update_memory",
    "unpin": "update_memory",
    "flush": "update_memory",
    "delete": "delete_memory",
    "clear": "delete_memory",
    "purge": "delete_memory",
    "restore": "update_memory",
    "recorded_turn": "search_memory",
    "read": "search_memory",
    "stats": "search_memory",
    "health": "search_memory",
}
"""What the conventions call each method of a memory, and the purge of one; it is the name of the span."""

ATTRIBUTES: Final = (
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.memory.store.id",
    "gen_ai.memory.record.count",
    "gen_ai.memory.records",
    "durable_memory.operation",
    "durable_memory.memory.hash",
    "error.type",
)
"""All that a span may carry."""

CAPTURE_CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The variable that lets messages stand in `gen_ai.memory.records`, if it is `true`."""

ASK_AGAIN_SECONDS: Final = 1.0
"""An SDK that is installed after the first call is noticed this much later."""

_tracer = trace.get_tracer("durable_memory")


class CallSpan:
    """The span of one call; the spans of what it calls are its children."""

    __slots__ = ("_span", "_token")

    def __init__(self, operation: OperationName, memory: MemoryId) -> None:
        name = OPERATION_NAMES[operation]
        attributes = {
            "gen_ai.operation.name": name,
            "gen_ai.provider.name": "durable_memory",
            "gen_ai.memory.store.id": memory.resource,
            "durable_memory.operation": operation,
            "durable_memory.memory.hash": memory_hash(memory),
        }
        self._span = _tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes)
        self._token: Token[context.Context] = context.attach(trace.set_span_in_context(self._span))

    def records(self, messages: Sequence[Message]) -> None:
        """Notes how many messages went in or came out, and what they say where the user asks for it."""
        self._span.set_attribute("gen_ai.memory.record.count", len(messages))
        if self._span.is_recording() and os.environ.get(CAPTURE_CONTENT, "").lower() == "true":
            content = [message.to_dict() for message in messages]
            self._span.set_attribute("gen_ai.memory.records", json.dumps(content, ensure_ascii=False))

    def end(self, error: BaseException | None) -> None:
        """Ends it. Texts and stack traces of errors stay out: those of others may repeat what was said."""
        if error is not None:
            self._span.set_attribute("error.type", type_of(error))
            self._span.set_status(StatusCode.ERROR)
        context.detach(self._token)
        self._span.end()


class _Sdk:
    """Whether this process has an SDK that takes spans.

    To find out, the API reads the environment, which costs more than all other measuring of a call: so the answer `no`
    is kept for ASK_AGAIN_SECONDS.
    """

    def __init__(self) -> None:
        self._present = False
        self._ask_at = 0.0

    def is_present(self, now: float) -> bool:
        if not self._present and now >= self._ask_at:
            self._ask_at = now + ASK_AGAIN_SECONDS
            self._present = not isinstance(trace.get_tracer_provider(), ProxyTracerProvider)
        return self._present


_sdk = _Sdk()


def open_span(operation: OperationName, memory: MemoryId, now: float) -> CallSpan | None:
    """Begins the span of a call. None where the process has no SDK: nobody would see the span, and it is not free.

    now: of time.perf_counter.
    """
    return CallSpan(operation, memory) if _sdk.is_present(now) else None
