"""Durable, shared memory for AI agents, as a plugin for the Temporal workflow engine.

In a workflow: `AgentMemory`. In an activity: `current_memory_client`. In any process: `MemoryClient`. On a Temporal
client: `MemoryPlugin`. Every type that a call takes or gives, and every error, can be imported from here. What
workflow code needs is imported at once and is small; the rest is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from durable_memory.memory.errors import (
    InvalidDeclarations,
    MemoryAccessDenied,
    MemoryBackpressure,
    MemoryBudgetSpent,
    MemoryBusy,
    MemoryConflict,
    MemoryContractTooNew,
    MemoryDamaged,
    MemoryFault,
    MemoryInvalid,
    MemoryKeyInvalid,
    MemoryModelRefused,
    MemoryModelUnavailable,
    MemoryOperationConflict,
    MemoryOperationExpired,
    MemoryOrphanResult,
    MemoryOversize,
    MemoryRedactionFailed,
    MemorySummaryRejected,
    MemoryUnavailable,
    MemoryUndecryptable,
    MemoryUnknownResource,
    MemoryWrongWorker,
)
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.types import (
    AgentContext,
    AgentRef,
    AgentTurn,
    AppendResult,
    Backup,
    ClearResult,
    ContentPart,
    ContextMemory,
    DeleteResult,
    FlushOutcome,
    FlushReason,
    FlushResult,
    GroupBy,
    ImportProblem,
    ImportResult,
    InvalidValue,
    ListedMemory,
    ListedPage,
    MemoryHealth,
    MemoryRef,
    MemoryStats,
    MemoryTurn,
    Message,
    MessageInput,
    Omitted,
    Priority,
    Provenance,
    PurgeResult,
    Role,
    Section,
    StatsGroup,
    ToolCall,
    Turn,
    View,
    messages_from_anthropic,
    messages_from_openai,
    messages_from_openai_responses,
)
from durable_memory.workflows.agent import Agent
from durable_memory.workflows.agent_memory import AgentMemory
from durable_memory.workflows.failures import memory_error

if TYPE_CHECKING:
    from durable_memory.activities.current import current_memory_client
    from durable_memory.activities.waker import TemporalWaker
    from durable_memory.encryption_codec import EncryptionCodec
    from durable_memory.memory.agents.agent import DeclaredAgent
    from durable_memory.memory.client import MemoryClient
    from durable_memory.memory.declarations.registry import Registry
    from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
    from durable_memory.memory.flushing.summarizer import Summarizer, SummaryRequest
    from durable_memory.memory.memory import Memory
    from durable_memory.memory.tokens.counter import TokenCounter
    from durable_memory.memory.waking import FlushReporter, FlushWaker, QueueReporter, RetriedFlush
    from durable_memory.plugin import MemoryPlugin

_LAZY = {
    "DeclaredAgent": "durable_memory.memory.agents.agent",
    "EncryptionCodec": "durable_memory.encryption_codec",
    "FlushReporter": "durable_memory.memory.waking",
    "FlushWaker": "durable_memory.memory.waking",
    "Memory": "durable_memory.memory.memory",
    "MemoryClient": "durable_memory.memory.client",
    "MemoryPlugin": "durable_memory.plugin",
    "QueueReporter": "durable_memory.memory.waking",
    "Registry": "durable_memory.memory.declarations.registry",
    "RetriedFlush": "durable_memory.memory.waking",
    "RuleBasedSummarizer": "durable_memory.memory.flushing.rule_based.summarizer",
    "Summarizer": "durable_memory.memory.flushing.summarizer",
    "SummaryRequest": "durable_memory.memory.flushing.summarizer",
    "TemporalWaker": "durable_memory.activities.waker",
    "TokenCounter": "durable_memory.memory.tokens.counter",
    "current_memory_client": "durable_memory.activities.current",
}

__all__ = [
    "Agent",
    "AgentContext",
    "AgentMemory",
    "AgentRef",
    "AgentTurn",
    "AppendResult",
    "Backup",
    "ClearResult",
    "ContentPart",
    "ContextMemory",
    "DeclaredAgent",
    "DeleteResult",
    "EncryptionCodec",
    "FlushOutcome",
    "FlushReason",
    "FlushReporter",
    "FlushResult",
    "FlushWaker",
    "GroupBy",
    "ImportProblem",
    "ImportResult",
    "InvalidDeclarations",
    "InvalidValue",
    "ListedMemory",
    "ListedPage",
    "Memory",
    "MemoryAccessDenied",
    "MemoryBackpressure",
    "MemoryBudgetSpent",
    "MemoryBusy",
    "MemoryClient",
    "MemoryConflict",
    "MemoryContractTooNew",
    "MemoryDamaged",
    "MemoryFault",
    "MemoryHealth",
    "MemoryId",
    "MemoryInvalid",
    "MemoryKeyInvalid",
    "MemoryModelRefused",
    "MemoryModelUnavailable",
    "MemoryOperationConflict",
    "MemoryOperationExpired",
    "MemoryOrphanResult",
    "MemoryOversize",
    "MemoryPlugin",
    "MemoryRedactionFailed",
    "MemoryRef",
    "MemoryStats",
    "MemorySummaryRejected",
    "MemoryTurn",
    "MemoryUnavailable",
    "MemoryUndecryptable",
    "MemoryUnknownResource",
    "MemoryWrongWorker",
    "Message",
    "MessageInput",
    "Omitted",
    "Priority",
    "Provenance",
    "PurgeResult",
    "QueueReporter",
    "Registry",
    "RetriedFlush",
    "Role",
    "RuleBasedSummarizer",
    "Section",
    "StatsGroup",
    "Summarizer",
    "SummaryRequest",
    "TemporalWaker",
    "TokenCounter",
    "ToolCall",
    "Turn",
    "View",
    "current_memory_client",
    "memory_error",
    "messages_from_anthropic",
    "messages_from_openai",
    "messages_from_openai_responses",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value
