"""Remembers, inside a workflow run, that it used a memory.

Kept as a query handler: state of the run that needs no command.
"""

from __future__ import annotations

from temporalio import workflow

USED_QUERY = "durable-memory/used"
"""Query that exists in a run that used a memory: whoever looks at the workflow can see it, too."""


def mark_used() -> None:
    """Marks the current run; not from queries and validators, which may change nothing and write no memory."""
    if not workflow.unsafe.is_read_only() and not was_used():
        workflow.set_query_handler(USED_QUERY, lambda: True)


def was_used() -> bool:
    """Whether the current run was marked."""
    return workflow.get_query_handler(USED_QUERY) is not None
