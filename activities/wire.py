"""The wire contract: names of the activities and the fields of their requests. Callers in any language rely on it.

A request is a JSON object; every activity takes exactly one. Standard library only, since workflow code imports it.
Names and fields are stable: a new field is optional, a change of meaning raises CONTRACT. Answers are the results of
`memory/types`; docs/wire.schema.json shows all of it to callers in other languages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias

from durable_memory.memory.types import AgentTurn, GroupBy, Message, Turn

CONTRACT: Final = 1
"""Version of the contract that this release speaks.

A request may carry `contract`; a higher one is refused, retryably.
"""

APPEND: Final = "memory.append"
RECORD_TURN: Final = "memory.record_turn"
RECORDED_TURN: Final = "memory.recorded_turn"
READ: Final = "memory.read"
WRITE: Final = "memory.write"
TOUCH: Final = "memory.touch"
PIN: Final = "memory.pin"
UNPIN: Final = "memory.unpin"
DELETE: Final = "memory.delete"
CLEAR: Final = "memory.clear"
RESTORE: Final = "memory.restore"
FLUSH: Final = "memory.flush"
STATS: Final = "memory.stats"
HEALTH: Final = "memory.health"
CONTEXT: Final = "memory.context"
RECORD_AGENT_TURN: Final = "memory.record_agent_turn"
RECORDED_AGENT_TURN: Final = "memory.recorded_agent_turn"
EXECUTE: Final = "memory.execute"
CLEANUP: Final = "memory.cleanup"
FLUSH_BEGIN: Final = "memory.flush.begin"
FLUSH_SUMMARIZE: Final = "memory.flush.summarize"
FLUSH_COMMIT: Final = "memory.flush.commit"
FLUSH_FAIL: Final = "memory.flush.fail"
SWEEP: Final = "memory.janitor.sweep"

ACTIVITIES: Final = frozenset(
    {
        *(
            APPEND,
            RECORD_TURN,
            RECORDED_TURN,
            READ,
            WRITE,
            TOUCH,
            PIN,
            UNPIN,
            DELETE,
            CLEAR,
            RESTORE,
            FLUSH,
            STATS,
            HEALTH,
        ),
        *(CONTEXT, RECORD_AGENT_TURN, RECORDED_AGENT_TURN, EXECUTE),
        *(CLEANUP, FLUSH_BEGIN, FLUSH_SUMMARIZE, FLUSH_COMMIT, FLUSH_FAIL, SWEEP),
    }
)
"""All activities of the product: those that callers start, then those of its own workflows."""

FLUSHER: Final = "memory-flush"
"""Workflow type of the flusher."""

JANITOR: Final = "memory-janitor"
"""Workflow type of the janitor."""

FLUSH_DUE: Final = "flush_due"
"""Signal that wakes a flusher; its argument says whether the flush is forced."""

LOCAL_CALL: Final = "durable-memory-local-call/"
"""Begins the header of a local activity; the number of the call within its run follows, the same for all its attempts.

It stands in the name, since a client may have the values of such headers encoded and not decoded again
(`HeaderCodecBehavior.WORKFLOW_ONLY_CODEC`).
"""

MAX_REQUEST_BYTES: Final = 1_500_000
"""Encoded size of a request. Temporal fails a workflow task whose payload is above 2 MB, for ever."""

MAX_ANSWER_BYTES: Final = 1_500_000
"""Encoded size of an answer. Temporal would have the activity repeated for a result above 2 MiB, in vain; the rest of
that is for a codec that makes it larger."""

MAX_TURN_BYTES: Final = 2_000_000
"""Encoded size of a turn in an answer: what was sent, with what the store gave beside it. Temporal would have the
activity repeated for a result above 2 MiB, in vain."""

WARN_REQUEST_BYTES: Final = 256_000
"""Encoded size from which a request is worth a warning: it stays in the history of the workflow."""

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
    """Of memory.append: chat-completions messages, 1 to 1,000, at most 1.5 MB encoded."""

    memory: MemoryField
    messages: list[MessageField]
    operation_id: str | None = None
    want_view: bool = False
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class RecordTurnRequest:
    """Of memory.record_turn: the messages of one turn, within the bounds of an append."""

    memory: MemoryField
    messages: list[MessageField]
    operation_id: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class RecordedTurnRequest:
    """Of memory.recorded_turn: the operation id under which the turn was, or will be, recorded."""

    memory: MemoryField
    operation_id: str
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class RecordedTurnAnswer:
    """Of memory.recorded_turn: the turn, or null if none is recorded."""

    turn: Turn | None


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """Of memory.write."""

    memory: MemoryField
    messages: list[MessageField]
    if_version: str | None = None
    operation_id: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Of memory.read; the answer is a view.

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
    """Of memory.touch."""

    memory: MemoryField
    ids: list[str]
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class TouchAnswer:
    """Of memory.touch, pin and unpin: the ids that are live, in the order in which they were asked for."""

    touched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PinRequest:
    """Of memory.pin and memory.unpin."""

    memory: MemoryField
    ids: list[str]
    operation_id: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class DeleteRequest:
    """Of memory.delete."""

    memory: MemoryField
    ids: list[str]
    operation_id: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class ClearRequest:
    """Of memory.clear; `confirm` must be true."""

    memory: MemoryField
    confirm: bool = False
    operation_id: str | None = None
    backup: bool = False
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """Of memory.restore; the answer is that of an append, without ids."""

    memory: MemoryField
    backup_id: str
    if_version: str | None = None
    operation_id: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class FlushRequest:
    """Of memory.flush: one flush, run by the activity itself unless `wait` is false."""

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
    """Of memory.stats. group_by: also count what is held by this."""

    memory: MemoryField
    group_by: GroupBy | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class HealthRequest:
    """Of memory.health. check_connectivity: also tell how long the store took to answer."""

    memory: MemoryField
    check_connectivity: bool = False
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """Of memory.context: the agent whose memories are composed for a model call of at most `max_tokens` tokens.

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
    """Of memory.record_agent_turn: the messages of one turn, for every memory that the agent may write to."""

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
    """Of memory.recorded_agent_turn: the operation id under which the agent's turn was, or will be, recorded."""

    agent: str
    operation_id: str
    input: dict[str, Any] | None = None
    workflow_id: str | None = None
    workflow_type: str | None = None
    contract: int = CONTRACT


@dataclass(frozen=True, slots=True)
class RecordedAgentTurnAnswer:
    """Of memory.recorded_agent_turn: the turn in the memories that hold it, or null if none does."""

    turn: AgentTurn | None


@dataclass(frozen=True, slots=True)
class ExecuteRequest:
    """Of memory.execute: any other activity here by its name without `memory.`, such as `append`.

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


Request: TypeAlias = (
    AppendRequest
    | RecordTurnRequest
    | RecordedTurnRequest
    | WriteRequest
    | ReadRequest
    | TouchRequest
    | PinRequest
    | DeleteRequest
    | ClearRequest
    | RestoreRequest
    | FlushRequest
    | StatsRequest
    | HealthRequest
    | ContextRequest
    | RecordAgentTurnRequest
    | RecordedAgentTurnRequest
)
"""What a caller may send."""
