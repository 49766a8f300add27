"""The memory client of the running activity: what `current_memory_client` returns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from temporalio import activity, nexus, workflow

from durable_memory.activities.faults import to_application_error
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.errors import MemoryInvalid, MemoryWrongWorker

_current: ContextVar[MemoryClient] = ContextVar("durable_memory_client")


def current_memory_client() -> MemoryClient:
    """Returns the client of the running activity attempt.

    Its operations are named after the activity: an attempt that is repeated repeats them, and they are applied once.
    Raises MemoryWrongWorker, which is tried again, where a worker runs an `async def` activity without the plugin.
    Raises MemoryInvalid everywhere else; in `def` activities, in Nexus operations and in workflows as an
    ApplicationError of this type, which ends them.
    """
    client = _current.get(None)
    if client is not None:
        return client
    # No other worker can take a local activity, nor the operation of a service.
    if activity.in_activity() and _is_async() and not activity.info().is_local and not nexus.in_operation():
        raise to_application_error(
            MemoryWrongWorker(
                "current_memory_client: this worker has no MemoryPlugin; connect its client with "
                "plugins=[MemoryPlugin(...)], as that of every worker of this queue"
            )
        )
    fault = MemoryInvalid(
        "current_memory_client: no memory client here; call it in an `async def` activity on a worker whose client "
        "was connected with plugins=[MemoryPlugin(...)]; workflow code uses AgentMemory or Agent"
    )
    # Raised as it is, it would make Temporal retry the activity, the operation or the workflow task without end.
    in_temporal = activity.in_activity() or nexus.in_operation() or workflow.in_workflow()
    raise to_application_error(fault) if in_temporal else fault


def _is_async() -> bool:
    """Tells an `async def` activity from a `def` one, also where that one runs an event loop of its own."""
    try:
        activity.client()
    except RuntimeError:
        return False
    return True


@contextmanager
def serving(client: MemoryClient) -> Iterator[None]:
    """Makes a client the current one: of an attempt, or of a program that runs operations without Temporal."""
    token = _current.set(client)
    try:
        yield
    finally:
        _current.reset(token)


def client_of_project(project: str) -> MemoryClient:
    """Returns the client of the running activity, for work that belongs to a project.

    Raises MemoryWrongWorker if it serves another one: retryably, since another worker of this queue may serve that.
    """
    client = current_memory_client()
    if project != client.project:
        raise MemoryWrongWorker(
            f"this worker serves project {client.project!r}, the request is for project {project!r}: "
            "give each project a queue of its own with DURABLE_MEMORY_TASK_QUEUE"
        )
    return client
