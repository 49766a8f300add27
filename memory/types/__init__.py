"""The values of the product. Standard library only, so that workflow code may import them."""

from durable_memory.memory.types.clean import InvalidValue, Json, clean_json, clean_text, did_you_mean
from durable_memory.memory.types.message import (
    ROLES,
    SECTIONS,
    ContentPart,
    Message,
    MessageInput,
    Provenance,
    Role,
    Section,
    ToolCall,
    as_messages,
)
from durable_memory.memory.types.results import (
    AppendResult,
    ClearResult,
    DeleteResult,
    FlushOutcome,
    FlushResult,
    MemoryHealth,
    MemoryStats,
    Turn,
)
from durable_memory.memory.types.view import MemoryRef, Omitted, View

__all__ = [
    "ROLES",
    "SECTIONS",
    "AppendResult",
    "ClearResult",
    "ContentPart",
    "DeleteResult",
    "FlushOutcome",
    "FlushResult",
    "InvalidValue",
    "Json",
    "MemoryHealth",
    "MemoryRef",
    "MemoryStats",
    "Message",
    "MessageInput",
    "Omitted",
    "Provenance",
    "Role",
    "Section",
    "ToolCall",
    "Turn",
    "View",
    "as_messages",
    "clean_json",
    "clean_text",
    "did_you_mean",
]
