"""Remembers, inside a workflow run, that it used a memory, and which handles it made and never used.

Kept as a query handler: state of the run that needs no command.
"""

from __future__ import annotations

from temporalio import workflow
from temporalio.exceptions import ApplicationError

USED_QUERY = "durable-memory/used"
"""Query that exists in a run that used a memory: whoever looks at the workflow can see it, too."""


class _Use:
    """The handler. made: what handles were made on, in order, and whether one of them was called or passed on."""

    def __init__(self) -> None:
        self.made: dict[str, bool] = {}

    def __call__(self) -> bool:
        return True


class Handle:
    """A handle as the run remembers it: with all others on the same memory or agent as one.

    on: a word or two for the log. Marks the run as one that used a memory, since it is to be settled at its end.
    Raises an ApplicationError of type MemoryInvalid outside workflow code.
    """

    def __init__(self, on: str) -> None:
        if not workflow.in_workflow():
            raise ApplicationError(
                f"{on}: AgentMemory and Agent are made in workflow code; in an activity open it with "
                "current_memory_client(), in any other process with a MemoryClient",
                type="MemoryInvalid",
                non_retryable=True,
            )
        self._on = on
        mark_used()
        use = _use()
        if use is not None and not workflow.unsafe.is_read_only():
            use.made.setdefault(on, False)

    def used(self) -> None:
        """Notes a call, or that its reference was taken: whatever becomes of that is use."""
        use = _use()
        if use is not None and self._on in use.made:
            use.made[self._on] = True


def mark_used() -> None:
    """Marks the current run; not from queries and validators, which may change nothing and write no memory."""
    if not workflow.unsafe.is_read_only() and not was_used():
        workflow.set_query_handler(USED_QUERY, _Use())


def was_used() -> bool:
    """Whether the current run was marked."""
    return workflow.get_query_handler(USED_QUERY) is not None


def never_used() -> list[str]:
    """Returns what the current run made handles on without one call of them, and without taking their reference."""
    use = _use()
    return [] if use is None else [on for on, used in use.made.items() if not used]


def _use() -> _Use | None:
    handler = workflow.get_query_handler(USED_QUERY)
    return handler if isinstance(handler, _Use) else None
