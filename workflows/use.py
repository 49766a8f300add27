"""Remembers whether a workflow run used a memory, and which handles it made but never used.

The state is a query handler of the run: to register one is no command, so it changes no history.
"""

from __future__ import annotations

from temporalio import workflow
from temporalio.exceptions import ApplicationError

USED_QUERY = "durable-memory/used"
"""Query that exists in a run that used a memory: whoever looks at the workflow can see it, too."""


class _RunUse:
    """The query handler.

    made: the memories and agents that have a handle, in order, each with whether one of its handles was used.
    """

    def __init__(self) -> None:
        self.made: dict[str, bool] = {}

    def __call__(self) -> bool:
        return True


class HandleUse:
    """Tracks whether a handle is used; all handles on the same memory or agent count as one.

    on: names that memory or agent in the log. To make one marks the run as one that used a memory, so that its end is
    followed by a cleanup. Raises an ApplicationError of type MemoryInvalid outside workflow code.
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

    def note(self) -> None:
        """Notes that a method was called, or that the reference was taken, which counts as use."""
        use = _use()
        if use is not None and self._on in use.made:
            use.made[self._on] = True


def mark_used() -> None:
    """Marks the current run as one that used a memory; not in queries and validators, which may change nothing."""
    if not workflow.unsafe.is_read_only() and not was_used():
        workflow.set_query_handler(USED_QUERY, _RunUse())


def was_used() -> bool:
    """Whether the current run was marked."""
    return workflow.get_query_handler(USED_QUERY) is not None


def never_used() -> list[str]:
    """Returns the memories and agents on which the current run made handles that it never used."""
    use = _use()
    return [] if use is None else [on for on, used in use.made.items() if not used]


def _use() -> _RunUse | None:
    handler = workflow.get_query_handler(USED_QUERY)
    return handler if isinstance(handler, _RunUse) else None
