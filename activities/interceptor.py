"""The interceptor around the activities of a worker: gives them their client, and maps errors to Temporal's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from temporalio import activity
from temporalio.exceptions import FailureError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from durable_memory.activities.attempts import is_running
from durable_memory.activities.caller import ActivityCaller
from durable_memory.activities.current import serving
from durable_memory.activities.faults import to_application_error, without_words
from durable_memory.activities.operations import INTERNAL, PUBLIC
from durable_memory.activities.rollout import judged_by_all
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.errors import MemoryFault, MemoryInvalid


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
        declared = client.parts.registry.fingerprint
        caller = ActivityCaller(info, input.headers, client.parts, lambda: is_running(activity.client(), info))
        if caller.begins_late:
            await caller.begin_late()
        try:
            with serving(client.calling_as(caller)), caller.running():
                _check_arguments(input)
                return await super().execute_activity(input)
        except MemoryFault as fault:
            raise await judged_by_all(fault, declared, client.parts, info) from None


def _check_arguments(call: ExecuteActivityInput) -> None:
    """Refuses for good what Python would refuse as a TypeError, which Temporal tries again."""
    if len(call.args) > 1 and _is_ours():
        raise MemoryInvalid(f"request: is one object; this activity was called with {len(call.args)} arguments")


def _is_ours() -> bool:
    """Tells the product's activities from those of users."""
    name = activity.info().activity_type
    return name in PUBLIC or name in INTERNAL
