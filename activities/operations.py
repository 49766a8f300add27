"""The table of operations: of each activity its name, what it takes and what it answers.

Handles and the product's own workflows start activities by it, the activities are made by it, and the schema for other
languages is drawn from it. A new operation begins with a row here; tests hold to the table what must be written out:
the methods of the handles and of the core, and docs/operations.md. It imports what workflow code may import.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeAlias, TypeVar

from durable_memory.activities import internal_requests, requests, wire
from durable_memory.memory.types import (
    AgentContext,
    AgentTurn,
    AppendResult,
    ClearResult,
    DeleteResult,
    FlushResult,
    MemoryHealth,
    MemoryStats,
    Turn,
    View,
)

_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Operation(Generic[_Request, _Answer]):
    """One activity, as those who start it and those who serve it know it."""

    name: str
    request: type[_Request]
    answer: type[_Answer]


Operations: TypeAlias = tuple[Operation[Any, Any], ...]

APPEND: Final = Operation(wire.APPEND, requests.AppendRequest, AppendResult)
RECORD_TURN: Final = Operation(wire.RECORD_TURN, requests.RecordTurnRequest, Turn)
RECORDED_TURN: Final = Operation(wire.RECORDED_TURN, requests.RecordedTurnRequest, requests.RecordedTurnAnswer)
READ: Final = Operation(wire.READ, requests.ReadRequest, View)
WRITE: Final = Operation(wire.WRITE, requests.WriteRequest, AppendResult)
TOUCH: Final = Operation(wire.TOUCH, requests.TouchRequest, requests.TouchAnswer)
PIN: Final = Operation(wire.PIN, requests.PinRequest, requests.TouchAnswer)
UNPIN: Final = Operation(wire.UNPIN, requests.PinRequest, requests.TouchAnswer)
DELETE: Final = Operation(wire.DELETE, requests.DeleteRequest, DeleteResult)
CLEAR: Final = Operation(wire.CLEAR, requests.ClearRequest, ClearResult)
RESTORE: Final = Operation(wire.RESTORE, requests.RestoreRequest, AppendResult)
FLUSH: Final = Operation(wire.FLUSH, requests.FlushRequest, FlushResult)
STATS: Final = Operation(wire.STATS, requests.StatsRequest, MemoryStats)
HEALTH: Final = Operation(wire.HEALTH, requests.HealthRequest, MemoryHealth)
ON_A_MEMORY: Final[Operations] = (
    *(APPEND, RECORD_TURN, RECORDED_TURN, READ, WRITE, TOUCH, PIN, UNPIN),
    *(DELETE, CLEAR, RESTORE, FLUSH, STATS, HEALTH),
)

CONTEXT: Final = Operation(wire.CONTEXT, requests.ContextRequest, AgentContext)
RECORD_AGENT_TURN: Final = Operation(wire.RECORD_AGENT_TURN, requests.RecordAgentTurnRequest, AgentTurn)
RECORDED_AGENT_TURN: Final = Operation(
    wire.RECORDED_AGENT_TURN, requests.RecordedAgentTurnRequest, requests.RecordedAgentTurnAnswer
)
OF_AN_AGENT: Final[Operations] = (CONTEXT, RECORD_AGENT_TURN, RECORDED_AGENT_TURN)

EXECUTE: Final = Operation(wire.EXECUTE, requests.ExecuteRequest, dict[str, Any])

PUBLIC: Final[Mapping[str, Operation[Any, Any]]] = {
    operation.name: operation for operation in (*ON_A_MEMORY, *OF_AN_AGENT, EXECUTE)
}
"""What callers of any language may start, by name."""

CLEANUP: Final = Operation(wire.CLEANUP, internal_requests.CleanupRequest, dict[str, int])
FLUSH_BEGIN: Final = Operation(wire.FLUSH_BEGIN, internal_requests.BeginRequest, internal_requests.BeginAnswer)
FLUSH_SUMMARIZE: Final = Operation(wire.FLUSH_SUMMARIZE, internal_requests.BatchRequest, internal_requests.StepAnswer)
FLUSH_COMMIT: Final = Operation(wire.FLUSH_COMMIT, internal_requests.BatchRequest, FlushResult)
FLUSH_FAIL: Final = Operation(wire.FLUSH_FAIL, internal_requests.FailRequest, internal_requests.StepAnswer)
SWEEP: Final = Operation(wire.SWEEP, internal_requests.SweepRequest, internal_requests.SweepAnswer)

INTERNAL: Final[Mapping[str, Operation[Any, Any]]] = {
    operation.name: operation for operation in (CLEANUP, FLUSH_BEGIN, FLUSH_SUMMARIZE, FLUSH_COMMIT, FLUSH_FAIL, SWEEP)
}
"""What only the product's own workflows start, by name."""
