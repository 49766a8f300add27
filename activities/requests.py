"""The wire contract: the fields of what callers send, and of the answers that are no results of `memory/types`.

A request is a JSON object; every activity takes exactly one. Fields are stable: a new one is optional, a change of
meaning raises CONTRACT.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from durable_memory.activities.wire import CONTRACT
from durable_memory.memory.types import AgentTurn, GroupBy, Message, Turn

MessageField: TypeAlias = Annotated[dict[str, Any], Message]
"""A message in its JSON form; the core reads it, and names what is wrong with it."""


@dataclass(frozen=True, slots=True)
class MemoryField:
    """Which memory: `key`, or `input` for the key template; `agent` is the declared agent that calls.

    workflow_id and workflow_type are for the template, in place of those of the workflow that calls. With run_id, what
    is written belongs to that workflow as well, until it ends.
    """

    resource: str
    key: str | None = None
    input: dict[str, Any] | None = None
    agent: str | None = None
    workflow_id: str | None = None
    workflow_type: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class AppendRequest:
    """The request of memory.append: chat-completions messages, 1 to 1,000, at most 1.5 MB encoded."""

    memory: MemoryField
    messages: list[MessageField]
    operation_id: str | None = None
    want_view: bool = False
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class RecordTurnRequest:
    """The request of memory.record_turn: the messages of one turn, within the bounds of an append."""

    memory: MemoryField
    messages: list[MessageField]
    operation_id: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class RecordedTurnRequest:
    """The request of memory.recorded_turn: the operation id under which the turn was, or will be, recorded."""

    memory: MemoryField
    operation_id: str
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class RecordedTurnAnswer:
    """The answer of memory.recorded_turn: the turn, or null if none is recorded."""

    turn: Turn | None


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """The request of memory.write."""

    memory: MemoryField
    messages: list[MessageField]
    if_version: str | None = None
    operation_id: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """The request of memory.read; the answer is a view.

    authors: what an agent said as the assistant has the agent's id as its name, unless it has one; names count.
    """

    memory: MemoryField
    limit: int | None = None
    max_tokens: int | None = None
    sections: list[str] | None = None
    ids: list[str] | None = None
    before_id: str | None = None
    since_version: str | None = None
    authors: bool | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class TouchRequest:
    """The request of memory.touch."""

    memory: MemoryField
    ids: list[str]
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class TouchAnswer:
    """The answer of memory.touch, pin and unpin: the ids that are live, in the order in which they were asked for."""

    touched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PinRequest:
    """The request of memory.pin and memory.unpin."""

    memory: MemoryField
    ids: list[str]
    operation_id: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class DeleteRequest:
    """The request of memory.delete."""

    memory: MemoryField
    ids: list[str]
    operation_id: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class ClearRequest:
    """The request of memory.clear; `confirm` must be true."""

    memory: MemoryField
    confirm: bool = False
    operation_id: str | None = None
    backup: bool = False
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """The request of memory.restore; its answer is an append's, without ids."""

    memory: MemoryField
    backup_id: str
    if_version: str | None = None
    operation_id: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class FlushRequest:
    """The request of memory.flush: one flush, run by the activity itself unless `wait` is false."""

    memory: MemoryField
    force: bool = False
    dry_run: bool = False
    max_messages: int | None = None
    threshold: float | None = None
    wait: bool = True
    operation_id: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class StatsRequest:
    """The request of memory.stats. group_by: also count what is held by this."""

    memory: MemoryField
    group_by: GroupBy | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class HealthRequest:
    """The request of memory.health. check_connectivity: also tell how long the store took to answer."""

    memory: MemoryField
    check_connectivity: bool = False
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """The request of memory.context: the agent whose memories are composed for a model call of at most `max_tokens`.

    `input` is what the key templates of its memories are rendered with; workflow_id and workflow_type as in a memory,
    authors as in a read.
    """

    agent: str
    input: dict[str, Any] | None = None
    max_tokens: int | None = None
    workflow_id: str | None = None
    workflow_type: str | None = None
    authors: bool | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class RecordAgentTurnRequest:
    """The request of memory.record_agent_turn: the messages of one turn, for every memory that takes its turns."""

    agent: str
    messages: list[MessageField]
    input: dict[str, Any] | None = None
    operation_id: str | None = None
    workflow_id: str | None = None
    workflow_type: str | None = None
    run_id: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class RecordedAgentTurnRequest:
    """The request of memory.recorded_agent_turn: the operation id under which the turn was, or will be, recorded."""

    agent: str
    operation_id: str
    input: dict[str, Any] | None = None
    workflow_id: str | None = None
    workflow_type: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class RecordedAgentTurnAnswer:
    """The answer of memory.recorded_agent_turn: the turn in the memories that hold it, or null if none does."""

    turn: AgentTurn | None


@dataclass(frozen=True, slots=True)
class ExecuteRequest:
    """The request of memory.execute: any other activity here by its name without `memory.`, such as `append`.

    resource, key, input, agent, workflow_id, workflow_type and run_id are those of its `memory`, or its own; payload
    holds its other fields. The answer is that of the activity.
    """

    operation: str
    resource: str | None = None
    key: str | None = None
    input: dict[str, Any] | None = None
    agent: str | None = None
    payload: dict[str, Any] | None = None
    operation_id: str | None = None
    workflow_id: str | None = None
    workflow_type: str | None = None
    run_id: str | None = None
    contract: int = CONTRACT
