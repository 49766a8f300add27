"""The values of the product. Standard library only, so that workflow code may import them."""

from durable_memory.memory.types.chat_anthropic import messages_from_anthropic
from durable_memory.memory.types.chat_openai import messages_from_openai
from durable_memory.memory.types.clean import (
    InvalidValue,
    Json,
    checked_ids,
    clean_json,
    clean_text,
    did_you_mean,
    field_path,
)
from durable_memory.memory.types.inventory import ListedMemory, ListedPage, PurgeResult
from durable_memory.memory.types.message import (
    PRIORITIES,
    ROLES,
    SECTIONS,
    ContentPart,
    Message,
    MessageInput,
    Priority,
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
    "PRIORITIES",
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
    "ListedMemory",
    "ListedPage",
    "MemoryHealth",
    "MemoryRef",
    "MemoryStats",
    "Message",
    "MessageInput",
    "Omitted",
    "Priority",
    "Provenance",
    "PurgeResult",
    "Role",
    "Section",
    "ToolCall",
    "Turn",
    "View",
    "as_messages",
    "checked_ids",
    "clean_json",
    "clean_text",
    "did_you_mean",
    "field_path",
    "messages_from_anthropic",
    "messages_from_openai",
]
