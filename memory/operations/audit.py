"""The audit: one record for each call that removes or replaces what is stored, in the log `durable_memory.audit`.

A record says what was done to which memory, by whom, and how it ended; never what was said, a key or a secret. Memories
and operation ids, which callers choose, stand in it as the keyed hashes that spans have. docs/security.md lists what
leaves one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeAlias

from durable_memory.memory.caller import Caller
from durable_memory.memory.errors import MemoryFault, MemoryKeyInvalid, MemoryUnavailable, type_of
from durable_memory.memory.hashing import keyed_hash, memory_hash
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.keys.rule import checked_key
from durable_memory.memory.operation_names import Removal
from durable_memory.memory.types import MemoryRef

LOGGER: Final = "durable_memory.audit"

Audited: TypeAlias = Literal[Removal, "cleanup", "purge", "purge_memory", "open"]
"""What is recorded.

flush: one that drops messages, and that somebody asked for. cleanup: the clear at the end of a memory's workflows.
purge: a purge as a whole, beside a `purge_memory` for each memory. open: the opening of a memory that was denied to its
caller, before any operation.
"""

FIELDS: Final = (
    "operation",
    "outcome",
    "error",
    "project",
    "resource",
    "memory_hash",
    "agent",
    "caller",
    "os_user",
    "namespace",
    "workflow_run_id",
    "activity_id",
    "activity_type",
    "attempt",
    "operation_hash",
    "removed",
    "added",
    "memories",
    "backups",
    "version_before",
    "version_after",
    "backup_id",
    "scope",
    "by_prefix",
)
"""All that a record may have; what is unknown, or does not apply, is left out."""

_log = logging.getLogger(LOGGER)


class AuditedCall:
    """Leaves one record of what happens inside.

    Its outcome is `applied` or `already_applied` after `done`; `refused` for an error that has changed nothing;
    `failed` for one after which something may have changed. With neither `done` nor an error nothing was removed, and
    no record is left.
    """

    __slots__ = ("_caller", "_operation", "_skipped", "_started", "_values")

    def __init__(self, operation: Audited, caller: Caller, memory: MemoryId | None = None, **values: object) -> None:
        """memory: the one that it is about, if it is one. values: FIELDS that are known from the start."""
        self._operation: Audited = operation
        self._caller = caller
        self._values: dict[str, Any] = values
        self._started = self._skipped = False
        if memory is not None and _log.isEnabledFor(logging.INFO):
            values |= {"project": memory.project, "resource": memory.resource, "memory_hash": memory_hash(memory)}

    def __enter__(self) -> Self:
        return self

    def skip(self) -> None:
        """Leaves no record of what happens before `begun`: until then this call is a dry run, and removes nothing."""
        self._skipped = True

    def named(self, operation_id: str) -> None:
        """Says which operation it is, that repeated attempts share."""
        if _log.isEnabledFor(logging.INFO):
            self._values["operation_hash"] = keyed_hash("operation", operation_id)

    def begun(self, **values: object) -> None:
        """Says that from now on an error may leave something changed. values: FIELDS that were checked until then."""
        self._started, self._skipped = True, False
        self._values |= values

    def done(self, *, already_applied: bool = False, removed: int, **values: object) -> None:
        """Says that it was applied.

        Counts stand only in the record of the attempt that applied it, so that they can be summed up.
        """
        self._values["outcome"] = "already_applied" if already_applied else "applied"
        if not already_applied:
            self._values |= {"removed": removed, **values}

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._skipped or not _log.isEnabledFor(logging.INFO):
            return
        values = self._values
        if error is not None:
            certain = isinstance(error, MemoryFault) and not isinstance(error, MemoryUnavailable) and not self._started
            values |= {"outcome": "refused" if certain else "failed", "error": _type_of(error)}
        if "outcome" not in values:
            return
        _leave(self._operation, self._caller, values)


def refused_open(caller: Caller, ref: MemoryRef, project: str, fault: MemoryFault) -> None:
    """Leaves the record of a memory that was denied to its caller before any operation.

    ref: names a declared resource and agent, or they would be unknown; its key may be anything.
    """
    if not _log.isEnabledFor(logging.INFO):
        return
    values = {
        "outcome": "refused",
        "error": fault.type,
        "project": project,
        "resource": ref.resource,
        "memory_hash": _hash_of(ref, project),
        "agent": ref.agent,
    }
    _leave("open", caller, values)


def _hash_of(ref: MemoryRef, project: str) -> str | None:
    try:
        return memory_hash(MemoryId(project, ref.resource, checked_key(ref.key, ref.resource)))
    except MemoryKeyInvalid:
        return None  # no memory has such a key, or its key was still to be made


def _leave(operation: Audited, caller: Caller, values: Mapping[str, Any]) -> None:
    values = {**values, "operation": operation, **caller.origin}
    record = {name: values[name] for name in FIELDS if values.get(name) is not None}
    _log.info("%s: %s", operation, record["outcome"], extra=record)


def _type_of(error: BaseException) -> str:
    return "cancelled" if isinstance(error, asyncio.CancelledError) else type_of(error)
