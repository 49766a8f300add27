"""Access modes: what an agent may do with a memory that it declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from durable_memory.memory.errors import MemoryAccessDenied
from durable_memory.memory.operation_names import OperationName

Mode: TypeAlias = Literal["read-write", "append-only", "read-only"]

MODES: Final[tuple[Mode, ...]] = get_args(Mode)
"""From the widest to the narrowest: each allows less than the one before it."""

READING: Final[frozenset[OperationName]] = frozenset({"read", "recorded_turn", "touch", "stats", "health"})
"""What every mode allows. An access that lru notes (touch, read by ids) is part of reading."""

APPENDING: Final[frozenset[OperationName]] = frozenset({"append", "record_turn"})
"""What append-only allows beside reading. All else changes or removes what is stored: read-write alone may."""


@dataclass(frozen=True, slots=True)
class Access:
    """The right to one memory: of the declared agent that calls, or of a program that calls for itself.

    agent: the id of the agent, None for a program.
    """

    agent: str | None = None
    mode: Mode = "read-write"

    def check(self, operation: OperationName, resource: str) -> None:
        """Returns if the mode allows the operation. Raises MemoryAccessDenied, which never repeats the key."""
        if not allows(self.mode, operation):
            raise MemoryAccessDenied(
                f"{resource}: agent {self.agent!r} has declared it {self.mode}, which does not allow {operation}"
            )


def allows(mode: Mode, operation: str) -> bool:
    """Tells whether a mode allows an operation."""
    return mode == "read-write" or operation in READING or (mode == "append-only" and operation in APPENDING)


def narrowest(modes: set[Mode]) -> Mode:
    """Returns the mode that allows only what all of these allow."""
    return max(modes, key=MODES.index)
