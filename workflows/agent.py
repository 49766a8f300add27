"""The handle on all memories of an agent inside a workflow: each method is one activity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from temporalio import workflow

from durable_memory.activities import operations, requests
from durable_memory.memory.types import (
    AgentContext,
    AgentRef,
    AgentTurn,
    MessageInput,
    refuse_beside_reference,
    refuse_no_reference,
)
from durable_memory.workflows.calling import Calls, checked, checked_json, wire_messages
from durable_memory.workflows.references import for_calls, for_others
from durable_memory.workflows.use import HandleUse


class Agent:
    """A declared agent as a workflow uses it: its memories together, each held to its mode.

    id: of the agent, or a reference, which holds the input as well. input: what the key templates of its memories are
    rendered with. task_queue, activity_config, and how calls fail: as for `AgentMemory`, which is the handle on one of
    the memories: `AgentMemory(…, agent=id)`.
    """

    def __init__(
        self,
        id: str | AgentRef,
        *,
        input: Mapping[str, Any] | None = None,
        task_queue: str | None = None,
        activity_config: workflow.ActivityConfig | None = None,
    ) -> None:
        if isinstance(id, AgentRef):
            checked(refuse_beside_reference, input=input)
            ref = id
        else:
            checked(refuse_no_reference, "id", id, AgentRef)
            variables = None if input is None else checked_json(input, "input")
            ref = AgentRef(id, variables)
        self._calls = Calls(task_queue, activity_config)
        self._use = HandleUse(f"agent {ref.id}")
        self._ref = for_calls(ref)

    @property
    def ref(self) -> AgentRef:
        """A small reference to pass to an activity, which opens it with `current_memory_client().agent(ref)`.

        It means the same memories to whoever opens it, another workflow too: `Agent(ref)`.
        """
        self._use.note()
        return for_others(self._ref)

    async def context(self, *, max_tokens: int | None = None, authors: bool = False) -> AgentContext:
        """Composes the agent's memories for one model call; see DeclaredAgent.context.

        The context becomes part of the workflow's history: compose it in the activity that calls the model where you
        can.
        """
        ref = self._used()
        request = requests.ContextRequest(
            ref.id,
            ref.input,
            max_tokens,
            workflow_id=ref.workflow_id,
            workflow_type=ref.workflow_type,
            authors=authors or None,
        )
        return await self._calls.call(operations.CONTEXT, request)

    async def record_turn(
        self, messages: MessageInput | Sequence[MessageInput], *, operation_id: str | None = None
    ) -> AgentTurn:
        """Appends the messages of one turn to every memory that takes the agent's turns.

        See DeclaredAgent.record_turn. The call returns when all of them hold the turn.
        """
        ref = self._used()
        request = requests.RecordAgentTurnRequest(
            ref.id,
            wire_messages(messages),
            ref.input,
            operation_id,
            workflow_id=ref.workflow_id,
            workflow_type=ref.workflow_type,
            run_id=ref.run_id,
        )
        return await self._calls.call(operations.RECORD_AGENT_TURN, request)

    async def recorded_turn(self, *, operation_id: str) -> AgentTurn | None:
        """Returns the turn that is recorded under this operation id, or None; see DeclaredAgent.recorded_turn."""
        ref = self._used()
        request = requests.RecordedAgentTurnRequest(
            ref.id, operation_id, ref.input, workflow_id=ref.workflow_id, workflow_type=ref.workflow_type
        )
        return (await self._calls.call(operations.RECORDED_AGENT_TURN, request)).turn

    def _used(self) -> AgentRef:
        self._use.note()
        return self._ref
