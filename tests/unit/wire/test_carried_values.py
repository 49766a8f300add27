"""What the product's methods take and return can be arguments and results of a user's own workflows and activities."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter

from durable_memory.activities import requests
from durable_memory.activities.parsing import parse
from durable_memory.memory.types import (
    AgentContext,
    AgentRef,
    AgentTurn,
    AppendResult,
    Backup,
    ClearResult,
    ContextMemory,
    DeleteResult,
    FlushResult,
    MemoryHealth,
    MemoryRef,
    MemoryStats,
    MemoryTurn,
    Message,
    Omitted,
    Provenance,
    StatsGroup,
    ToolCall,
    Turn,
    View,
)

NOW: Final = datetime(2026, 11, 28, 12, 30, 15, 250_000, tzinfo=UTC)
CALLS: Final = Message.assistant("One moment.", tool_calls=[ToolCall("c1", "look_up", '{"parcel": 7}')])
PARTS: Final = Message(
    "user",
    ({"type": "text", "text": "日本語 🙂"}, {"type": "x_custom", "of": [1, {"deep": None}]}),
    name="Ann",
    pinned=True,
    agent="clerk",
    metadata={"ticket": {"number": 7, "tags": ["a", "b"]}},
    id="0123456789abcdef-1-00ff",
    section="short_term",
    tokens=12,
    tokens_estimated=True,
    created_at=NOW,
    provenance=Provenance("workflow", "run", "1"),
    priority="high",
    truncated_from=90,
)
VIEW: Final = View((PARTS, CALLS, Message.tool("", "c1")), 30, "0123456789abcdef:3:00ff", Omitted(2, 9), flush_due=True)
APPENDED: Final = AppendResult(("0123456789abcdef-1-00ff",), VIEW.version, 30, 3, created=True, view=VIEW)
STATS: Final = MemoryStats(
    exists=True,
    version=VIEW.version,
    tokens={"system": 0, "short_term": 30},
    messages={"system": 0, "short_term": 3},
    omitted=Omitted(),
    max_tokens=400,
    max_messages=None,
    flush_due=False,
    created_at=NOW,
    groups=(StatsGroup("user", 3, 30),),
    backups=(Backup("0123456789abcdef", 3, NOW, NOW),),
)
VALUES: Final = (
    MemoryRef("desk", input={"user": {"id": 7}}, agent="clerk"),
    MemoryRef("desk", workflow_id="order-7", workflow_type="Order"),
    AgentRef("clerk", {"user_id": "ann"}, workflow_id="order-7", workflow_type="Order"),
    CALLS,
    PARTS,
    VIEW,
    APPENDED,
    Turn((PARTS,), APPENDED),
    AgentTurn((CALLS,), (MemoryTurn("desk", APPENDED),)),
    AgentContext((PARTS,), 12, (ContextMemory("desk", "Desk", "absent", 12, 1, Omitted()),)),
    DeleteResult(("a",), ("b",), {"c": "d"}),
    ClearResult(3, "0123456789abcdef"),
    FlushResult("committed", removed_ids=("a",), summary_id="s"),
    STATS,
    MemoryHealth(healthy=True, problems=(), stats=STATS, warnings=("a flush is being retried",)),
)


@pytest.mark.parametrize("converter", [DataConverter.default, pydantic_data_converter], ids=["default", "pydantic"])
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
async def test_a_value_comes_out_of_a_payload_as_it_went_in(converter: DataConverter, value: object) -> None:
    assert await converter.decode(await converter.encode([value]), [type(value)]) == [value]


@pytest.mark.parametrize("ref", [value for value in VALUES if isinstance(value, MemoryRef)])
def test_a_reference_in_json_is_the_memory_of_a_request(ref: MemoryRef) -> None:
    memory = parse(requests.StatsRequest, {"memory": json.loads(json.dumps(asdict(ref)))}).memory
    assert MemoryRef(**asdict(memory)) == ref


@dataclass(frozen=True, slots=True)
class EarlierRef:
    """A MemoryRef as it was before it could name its workflow."""

    resource: str
    key: str | None = None
    input: dict[str, Any] | None = None
    agent: str | None = None


@pytest.mark.parametrize("converter", [DataConverter.default, pydantic_data_converter], ids=["default", "pydantic"])
async def test_references_pass_between_a_worker_that_names_workflows_in_them_and_one_of_before(
    converter: DataConverter,
) -> None:
    newer = MemoryRef("desk", input={"user": 7}, workflow_id="order-7", workflow_type="Order")
    earlier = EarlierRef("desk", input={"user": 7})
    assert await converter.decode(await converter.encode([newer]), [EarlierRef]) == [earlier]
    assert await converter.decode(await converter.encode([earlier]), [MemoryRef]) == [
        MemoryRef("desk", None, {"user": 7})
    ]
