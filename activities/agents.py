"""The operations on all memories of an agent as activities; see `conversation` for those on one memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from temporalio import activity

from durable_memory.activities import requests, wire
from durable_memory.activities.answers import (
    ASK_FOR_THE_TURN,
    TAKE_UP_THE_TURN,
    Activity,
    JsonObject,
    carried,
    carried_turn,
)
from durable_memory.activities.current import current_memory_client
from durable_memory.activities.parsing import parse
from durable_memory.memory.agents.agent import AgentMemories
from durable_memory.memory.types import AgentRef


@activity.defn(name=wire.CONTEXT)
async def context(request: Any = None) -> JsonObject:
    """Composes the context of a model call; see requests.ContextRequest."""
    asked = parse(requests.ContextRequest, request)
    composed = await _agent(asked).context(max_tokens=asked.max_tokens, authors=asked.authors is True)
    return carried(asked.agent, composed)


@activity.defn(name=wire.RECORD_AGENT_TURN)
async def record_agent_turn(request: Any = None) -> JsonObject:
    """Appends a turn to every memory that the agent may write to; see requests.RecordAgentTurnRequest."""
    asked = parse(requests.RecordAgentTurnRequest, request)
    turn = await _agent(asked, asked.run_id).record_turn(asked.messages, operation_id=asked.operation_id)
    return carried_turn(asked.agent, turn, TAKE_UP_THE_TURN)


@activity.defn(name=wire.RECORDED_AGENT_TURN)
async def recorded_agent_turn(request: Any = None) -> JsonObject:
    """Tells which turn an agent's operation has recorded; see requests.RecordedAgentTurnRequest."""
    asked = parse(requests.RecordedAgentTurnRequest, request)
    turn = await _agent(asked).recorded_turn(operation_id=asked.operation_id)
    return carried_turn(asked.agent, requests.RecordedAgentTurnAnswer(turn), ASK_FOR_THE_TURN)


def _agent(
    asked: requests.ContextRequest | requests.RecordAgentTurnRequest | requests.RecordedAgentTurnRequest,
    run_id: str | None = None,
) -> AgentMemories:
    ref = AgentRef(asked.agent, asked.input, asked.workflow_id, asked.workflow_type, run_id)
    return current_memory_client().agent(ref)


ACTIVITIES: Final[Mapping[str, Activity]] = {
    wire.CONTEXT: context,
    wire.RECORD_AGENT_TURN: record_agent_turn,
    wire.RECORDED_AGENT_TURN: recorded_agent_turn,
}
"""What every worker with the plugin runs on its own queue, beside those of `conversation`."""
