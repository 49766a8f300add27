"""The operations on one memory, by the names that its methods, modes, spans, metrics and audit records share."""

from __future__ import annotations

from typing import Literal, TypeAlias

Removal: TypeAlias = Literal["write", "delete", "clear", "restore", "flush"]
"""What may remove or replace messages that are stored."""

OperationName: TypeAlias = Literal[
    Removal,
    "append",
    "record_turn",
    "recorded_turn",
    "read",
    "touch",
    "pin",
    "unpin",
    "stats",
    "health",
    "purge",
]
