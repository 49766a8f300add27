"""The operations on all memories of an agent as activities; see `conversation` for those on one memory."""

from __future__ import annotations

from typing import Final

from durable_memory.activities import operations, requests
from durable_memory.activities.answers import (
    ASK_FOR_THE_TURN,
    TAKE_UP_THE_TURN,
    JsonObject,
    carried,
    carried_turn,
)
from durable_memory.activities.current import current_memory_client
from durable_memory.activities.defining import Activities
from durable_memory.memory.agents.agent import DeclaredAgent
from durable_memory.memory.types import AgentRef

ACTIVITIES: Final = Activities()


@ACTIVITIES.serve(operations.CONTEXT)
async def context(asked: requests.ContextRequest) -> JsonObject:
    """Composes the context of a model call."""
    composed = await _agent(asked).context(max_tokens=asked.max_tokens, authors=asked.authors is True)
    return carried(asked.agent, composed)


@ACTIVITIES.serve(operations.RECORD_AGENT_TURN)
async def record_agent_turn(asked: requests.RecordAgentTurnRequest) -> JsonObject:
    """Appends a turn to every memory that takes the agent's turns."""
    turn = await _agent(asked, asked.run_id).record_turn(asked.messages, operation_id=asked.operation_id)
    return carried_turn(asked.agent, turn, TAKE_UP_THE_TURN)


@ACTIVITIES.serve(operations.RECORDED_AGENT_TURN)
async def recorded_agent_turn(asked: requests.RecordedAgentTurnRequest) -> JsonObject:
    """Tells which turn an agent's operation has recorded."""
    turn = await _agent(asked).recorded_turn(operation_id=asked.operation_id)
    return carried_turn(asked.agent, requests.RecordedAgentTurnAnswer(turn), ASK_FOR_THE_TURN)


def _agent(
    asked: requests.ContextRequest | requests.RecordAgentTurnRequest | requests.RecordedAgentTurnRequest,
    run_id: str | None = None,
) -> DeclaredAgent:
    ref = AgentRef(asked.agent, asked.input, asked.workflow_id, asked.workflow_type, run_id)
    return current_memory_client().agent(ref)
