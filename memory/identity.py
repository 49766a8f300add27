"""The identity of a memory, and of the workflow that owns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DEFAULT_PROJECT: Final = "default"
"""The project of programs that name none."""

DEFAULT_PREFIX: Final = "dm:"
"""What begins every key in Redis where nothing else is given."""


@dataclass(frozen=True, slots=True, order=True)
class MemoryId:
    """The identity of a memory: project, resource id and rendered key, all three, always."""

    project: str
    resource: str
    key: str


@dataclass(frozen=True, slots=True, order=True)
class WorkflowId:
    """The identity of a workflow, whatever its run."""

    namespace: str
    id: str


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """A workflow that wrote to a memory, as an activity of it sees it.

    Temporal keeps at most one open execution of an id in a namespace.
    """

    namespace: str
    workflow_id: str
    run_id: str

    @property
    def workflow(self) -> WorkflowId:
        """The workflow, of which this is one run."""
        return WorkflowId(self.namespace, self.workflow_id)
