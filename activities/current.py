"""The memory client of the running activity: what `current_memory_client` returns, and the interceptor that sets it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from temporalio import activity, nexus, workflow
from temporalio.exceptions import FailureError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from durable_memory.activities.attempts import is_running
from durable_memory.activities.caller import ActivityCaller
from durable_memory.activities.faults import to_application_error, without_words
from durable_memory.activities.operations import INTERNAL, PUBLIC
from durable_memory.activities.rollout import judged_by_all
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.errors import MemoryFault, MemoryInvalid, MemoryWrongWorker

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
    """Makes a client the current one, for a program that runs operations by their names without Temporal."""
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


class ActivityInterceptor(Interceptor):
    """Worker interceptor: gives activities their client, and maps errors of the core to Temporal's."""

    def __init__(self, client: Callable[[], MemoryClient]) -> None:
        """Takes a function that returns the client of the worker that runs the current activity."""
        self._client = client

    def intercept_activity(
        self,
        next: ActivityInboundInterceptor,
    ) -> ActivityInboundInterceptor:
        """See base class."""
        return _Inbound(next, self._client)


class _Inbound(ActivityInboundInterceptor):
    def __init__(self, next_one: ActivityInboundInterceptor, client: Callable[[], MemoryClient]) -> None:
        super().__init__(next_one)
        self._client = client

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        try:
            if input.executor is not None:  # a `def` activity in a thread: the client belongs to the event loop
                return await super().execute_activity(input)
            return await self._with_client(input)
        except MemoryFault as fault:
            # Without the cause: a chain of stack traces could carry content into the history.
            raise to_application_error(fault) from None
        except FailureError:
            raise  # a failure that a summariser raised for Temporal
        except Exception as error:
            if not _is_ours():
                raise  # a user's activity speaks for itself
            raise without_words(error) from None

    async def _with_client(self, input: ExecuteActivityInput) -> Any:
        client, info = self._client(), activity.info()
        declared = client.wiring.registry.fingerprint
        caller = ActivityCaller(info, input.headers, client.wiring, lambda: is_running(activity.client(), info))
        if caller.begins_late:
            await caller.begin_late()
        try:
            with serving(client.calling_as(caller)), caller.running():
                _check_arguments(input)
                return await super().execute_activity(input)
        except MemoryFault as fault:
            raise await judged_by_all(fault, declared, client.wiring, info) from None


def _check_arguments(call: ExecuteActivityInput) -> None:
    """Refuses for good what Python would refuse as a TypeError, which Temporal tries again."""
    if len(call.args) > 1 and _is_ours():
        raise MemoryInvalid(f"request: is one object; this activity was called with {len(call.args)} arguments")


def _is_ours() -> bool:
    """Tells the product's activities from those of users."""
    name = activity.info().activity_type
    return name in PUBLIC or name in INTERNAL
