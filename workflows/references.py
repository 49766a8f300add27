"""References in workflow code: those that a handle gives out name their workflow, and its own calls need not."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from temporalio import workflow

from durable_memory.memory.types import AgentRef, MemoryRef, given_by

_Reference = TypeVar("_Reference", bound=MemoryRef | AgentRef)


def for_others(ref: _Reference) -> _Reference:
    """Returns a reference as this workflow gives it out: it means the same memories to whoever opens it."""
    info = workflow.info()
    return given_by(ref, info.workflow_id, info.workflow_type, info.run_id)


def for_calls(ref: _Reference) -> _Reference:
    """Returns a reference as calls of this workflow send it: without what it says of the workflow if that is this one.

    An activity knows its workflow, and one of an older release takes no other.
    """
    info = workflow.info()
    if (ref.workflow_id, ref.workflow_type) != (info.workflow_id, info.workflow_type):
        return ref
    return replace(ref, workflow_id=None, workflow_type=None, run_id=None)
