"""One activity of an agent by itself, in a test that needs no Temporal."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import ParamSpec, TypeVar, cast
from uuid import uuid4

from temporalio.testing import ActivityEnvironment

from durable_memory.activities.caller import ActivityCaller
from durable_memory.activities.current import serving
from durable_memory.memory.client import MemoryClient

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class MemoryActivityEnvironment(ActivityEnvironment):
    """Temporal's environment for one activity, in which `current_memory_client` answers.

    client: whose memories the activity opens. Each run is one more attempt of the same activity, so it finds what an
    earlier one has recorded, and `info` counts them; another environment is another activity. What the activity raises
    comes as it is. A test of an activity that begins late moves `info.scheduled_time` back.
    """

    def __init__(self, client: MemoryClient) -> None:
        super().__init__()
        self._memories = client
        now = datetime.now(UTC)  # Temporal's own times are of 1970: all operations would have expired
        self.info = replace(
            self.info,
            workflow_run_id=str(uuid4()),
            scheduled_time=now,
            current_attempt_scheduled_time=now,
            started_time=now,
            schedule_to_close_timeout=None,
        )

    def run(
        self,
        fn: Callable[_Parameters, _Result],
        *args: _Parameters.args,
        **kwargs: _Parameters.kwargs,
    ) -> _Result:
        """Runs an attempt. As on a worker, a `def` activity has no memory client."""
        if self.info.attempt == 1:  # also of a test that says the activity was scheduled long ago
            self.info = replace(self.info, current_attempt_scheduled_time=self.info.scheduled_time)
        try:
            attempt = super().run(fn, *args, **kwargs)
        except BaseException:
            self._has_ended()
            raise
        if inspect.isawaitable(attempt):
            return cast("_Result", self._with_memories(attempt))
        self._has_ended()
        return attempt

    async def _with_memories(self, attempt: Awaitable[object]) -> object:
        caller = ActivityCaller(self.info, {}, self._memories.parts, self._is_running)
        if caller.begins_late:
            await caller.begin_late()
        try:
            with serving(self._memories.calling_as(caller)), caller.running():
                return await attempt
        finally:
            self._has_ended()

    def _has_ended(self) -> None:
        now = datetime.now(UTC)
        self.info = replace(
            self.info, attempt=self.info.attempt + 1, current_attempt_scheduled_time=now, started_time=now
        )

    async def _is_running(self) -> bool:
        """Nothing here gives up an attempt that still runs."""
        return True
