"""The workers that a plugin itself runs beside those of its users: companions, and those that write slow summaries."""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any, Final, Literal, TypeAlias

from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.task_queues import summaries_queue
from durable_memory.running.announcing import announced
from durable_memory.running.worker_group import WorkerGroup

OwnWorker: TypeAlias = Literal["companion", "summary_worker"]

_DRAIN: Final = timedelta(seconds=10)
_ACTIVITIES_OF_A_WORKER: Final = 100
"""At a time, where nothing else is said; Temporal warns of an executor of fewer threads."""

_making: ContextVar[OwnWorker | None] = ContextVar("durable_memory_making", default=None)
"""Holds in this thread alone: another one may make a user's worker meanwhile."""


def worker_being_made() -> OwnWorker | None:
    """Tells which worker of its own a plugin is making while it is asked to configure one; None: it is a user's."""
    return _making.get()


class OwnWorkers:
    """The workers that one plugin has made, each known from then on."""

    def __init__(self, task_queue: str, summary_slots: int) -> None:
        """task_queue: the project's. summary_slots: how many summaries are written at the same time."""
        self._task_queue = task_queue
        self._summary_slots = summary_slots
        self._companions: weakref.WeakKeyDictionary[Worker, WorkerGroup] = weakref.WeakKeyDictionary()
        self._summary_workers: weakref.WeakSet[Worker] = weakref.WeakSet()

    def make_companion(self, client: Client, group: WorkerGroup) -> Worker:
        """Makes the worker that serves the project's queue where no worker of a user does."""
        companion = self._make("companion", client, task_queue=self._task_queue)
        self._companions[companion] = group
        return companion

    def group_of_companion(self, worker: Worker) -> WorkerGroup | None:
        """Returns the group that a companion was made for; None for any other worker."""
        return self._companions.get(worker)

    def writes_summaries(self, worker: Worker) -> bool:
        """Tells whether a worker was made for slow summaries."""
        return worker in self._summary_workers

    def refuse_beside_companion(self, client: Client) -> None:
        """Says what to do where Temporal would only say that two workers of a client poll one queue."""
        if any(worker.client is client and not group.ended for worker, group in self._companions.items()):
            raise MemoryInvalid(
                f"task_queue: the companion of this client polls {self._task_queue!r} already; make this "
                "worker before the first one runs, then there is no companion, or pass MemoryPlugin(companion=False)"
            )

    @asynccontextmanager
    async def beside(self, worker: Worker, group: WorkerGroup) -> AsyncIterator[None]:
        """Tells others of a worker's queue what it declares while the context is open, in which it is to run.

        Beside one of the project's queue runs another worker meanwhile, whose slots are for its slow summaries.
        """
        async with AsyncExitStack() as around:
            await around.enter_async_context(announced(group.client.parts, worker))
            if worker.task_queue == self._task_queue:
                summary_worker = self._make(
                    "summary_worker",
                    worker.client,
                    task_queue=summaries_queue(self._task_queue),
                    max_concurrent_activities=self._summary_slots,
                )
                self._summary_workers.add(summary_worker)
                await around.enter_async_context(summary_worker)
                around.enter_context(group.running(summary_worker))
            yield

    def _make(self, kind: OwnWorker, client: Client, **options: Any) -> Worker:
        """Makes a worker which the plugin, asked to configure it, can tell from those of users.

        Nothing of ours runs in its executor, whose threads are made when they are needed: Temporal makes no worker
        without one if another plugin of the client adds a `def` activity to all workers.
        """
        token = _making.set(kind)
        executor = ThreadPoolExecutor(options.get("max_concurrent_activities", _ACTIVITIES_OF_A_WORKER))
        try:
            return Worker(client, graceful_shutdown_timeout=_DRAIN, activity_executor=executor, **options)
        finally:
            _making.reset(token)
