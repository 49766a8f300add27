"""The log entries at the start of workers that use memories: what they serve, and what their Redis may lose."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from durable_memory.memory.client import MemoryClient
from durable_memory.memory.settings import Settings

_log = logging.getLogger(__name__)


def log_start(memories: MemoryClient, settings: Settings, folders: Sequence[str | Path]) -> None:
    """Logs what workers serve, and a warning for each setting under which their Redis may lose data.

    memories: the client that was opened with these settings. folders: where the declarations were read, if in files.
    """
    _log.info(
        "declared memories: %d%s; project %s, whose flushes run on %s",
        len(memories.registry.memories()),
        f" in {', '.join(map(str, folders))}" if folders else "",
        settings.project,
        settings.task_queue,
    )
    if settings.audit_log is not None and settings.telemetry_key is None:
        _log.warning(
            "DURABLE_MEMORY_TELEMETRY_KEY is not set: the hashes of memories in the audit of this process are its own, "
            "and cannot be compared with those of other processes or of a later start; give all of them the same secret"
        )
    for backend in memories.parts.backends.values():
        for warning in backend.warnings:
            _log.warning("%s", warning)
