"""The task queues of a project: its own, and one beside it for summaries that wait for a model."""

from __future__ import annotations

from typing import Final

from durable_memory.memory.identity import DEFAULT_PROJECT
from durable_memory.memory.types import MAX_QUEUE_BYTES

DEFAULT_TASK_QUEUE: Final = "durable-memory"
"""The queue of the project `default`: flushers run there, and callers by name send there."""

_SUMMARIES: Final = "-summaries"

MAX_PROJECT_QUEUE_BYTES: Final = MAX_QUEUE_BYTES - len(_SUMMARIES)
"""How long the name of a project's queue may be: that of its summaries is longer."""


def project_queue(project: str) -> str:
    """Returns the queue of a project for which none is configured.

    Each has one of its own: a worker of another project would take its flushes, and could not do them. Raises
    ValueError for a project whose queue would be that of another one's summaries.
    """
    if project == DEFAULT_PROJECT:
        return DEFAULT_TASK_QUEUE
    if f"-{project}".endswith(_SUMMARIES):
        raise ValueError("is needed for this project: the queue of its name is that of another project's summaries")
    return f"{DEFAULT_TASK_QUEUE}-{project}"


def summaries_queue(task_queue: str) -> str:
    """Returns the queue for the slow summaries of a project, by its own queue."""
    return task_queue + _SUMMARIES
