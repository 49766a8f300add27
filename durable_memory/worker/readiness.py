"""Whether a worker can do its work now: what /livez, /readyz and /metrics answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http import HTTPStatus

from temporalio.client import Client
from temporalio.service import RPCError

from durable_memory.activities.pollers import ACTIVITIES, WORKFLOWS, pollers
from durable_memory.memory.bounded import for_each
from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.stores.port import Store
from durable_memory.memory.task_queues import summaries_queue
from durable_memory.worker.http import Answer
from durable_memory.worker.metrics import CONTENT_TYPE, WorkerMetrics


class Readiness:
    """Asks Redis and Temporal each time: an answer that was remembered would be wrong when it matters.

    client: its identity is this worker's alone, so that the server can say whether it polls.
    """

    def __init__(
        self,
        store: Store,
        client: Client,
        task_queue: str,
        metrics: WorkerMetrics,
        *,
        notes: Callable[[], Sequence[str]],
    ) -> None:
        """task_queue: the project's; its slow summaries have a queue and a worker of their own beside it.

        notes: returns what else is to be said, and makes a worker no less ready.
        """
        self._store = store
        self._client = client
        self._polled = (
            (task_queue, WORKFLOWS),
            (task_queue, ACTIVITIES),
            (summaries_queue(task_queue), ACTIVITIES),
        )
        self._metrics = metrics
        self._notes = notes
        self.draining = False

    async def livez(self) -> Answer:
        """This process runs, and its event loop is not stuck."""
        return Answer(HTTPStatus.OK, b"alive\n")

    async def readyz(self) -> Answer:
        """Redis takes writes, and Temporal sees this process poll for flushes, calls and slow summaries."""
        found = await for_each((self._redis, self._polling), lambda ask: ask(), at_once=2)
        problems = [problem for problem in found if problem]
        if self.draining:
            problems.append("the worker is stopping")
        if problems:
            return Answer(HTTPStatus.SERVICE_UNAVAILABLE, f"{'; '.join(problems)}\n".encode())
        return Answer(HTTPStatus.OK, "\n".join(["ready", *self._notes(), ""]).encode())

    async def metricsz(self) -> Answer:
        """What this process measured."""
        return Answer(HTTPStatus.OK, self._metrics.text(), CONTENT_TYPE)

    async def _redis(self) -> str | None:
        try:
            await self._store.ping()
        except MemoryUnavailable as fault:
            return fault.message
        return None

    async def _polling(self) -> str | None:
        try:
            polling = await for_each(self._polled, lambda one: pollers(self._client, *one), at_once=len(self._polled))
        except RPCError:
            return "Temporal does not answer"
        seen = zip(self._polled, polling, strict=True)
        missing = [queue for (queue, _), names in seen if self._client.identity not in names]
        return f"the worker does not poll {' and '.join(dict.fromkeys(missing))} yet" if missing else None
