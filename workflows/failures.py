"""The error of a memory behind a call that failed in a workflow, or behind the failure of the workflow itself."""

from __future__ import annotations

from typing import Final

from temporalio.exceptions import ApplicationError

from durable_memory.memory.errors import kinds_of_faults

_TYPES: Final = frozenset(kind.type for kind in kinds_of_faults())


def memory_error(error: BaseException) -> ApplicationError | None:
    """Returns the error of a memory behind `error`; None if a memory is not what failed, or no attempt was answered.

    error: what a call of a handle raised (an ActivityError), a group of such as `asyncio.TaskGroup` raises (the first
    one of a memory counts), or `WorkflowFailureError`. The `type` of the answer is one
    of `MemoryUnavailable`, `MemoryOversize`, …, and `non_retryable` says that no repetition helps.
    """
    if isinstance(error, ApplicationError) and error.type in _TYPES:
        return error
    parts = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    behind = (memory_error(cause) for cause in (*parts, error.__cause__) if cause is not None)
    return next((found for found in behind if found is not None), None)
