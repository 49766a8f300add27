"""The workers of one process that share open connections, and the companion worker that runs their flushes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import weakref
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager

from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory.activities.runs import TemporalRuns
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.identity import WorkflowId
from durable_memory.memory.janitor.owners import Owners
from durable_memory.running.ended_workflows import EndedWorkflows

_log = logging.getLogger(__name__)
_CLOSE_SECONDS = 5


class WorkerGroup:
    """Opens the connections for its first worker, and closes them after its last one.

    It lives in a task of its own, so it does not matter which worker starts first or stops last. Temporal allows one
    worker for a task queue and client in a process, so the companion is shared as well.
    """

    def __init__(
        self,
        temporal: Client,
        connect: Callable[[], Awaitable[MemoryClient]],
        make_companion: Callable[[WorkerGroup], Worker | None],
        reloading: Callable[[], AbstractAsyncContextManager[None]],
        *,
        after: WorkerGroup | None,
    ) -> None:
        """Begins to open.

        temporal: client of the first worker. reloading: keeps declarations up to date meanwhile. after: the group
        before this one in the same place, which may still be closing.
        """
        self.users = 0
        """How many workers of users run."""
        self.clients: weakref.WeakSet[Client] = weakref.WeakSet()
        """Temporal clients of the workers that it serves."""
        self._temporal = temporal
        self.ended_workflows = EndedWorkflows(self._settle)
        """Workflows that its workers saw end, if they do not wait for a cleanup."""
        self._own_workers: set[Worker] = set()
        """The running workers that the plugin made, beside those of users."""
        self._connect = connect
        self._make_companion = make_companion
        self._reloading = reloading
        self._after = after
        self._client: asyncio.Future[MemoryClient] = asyncio.get_running_loop().create_future()
        self._last_user_left = asyncio.Event()
        self._task = asyncio.create_task(self._serve())

    @property
    def client(self) -> MemoryClient:
        """The open client; only while a worker runs."""
        return self._client.result()

    @property
    def open_client(self) -> MemoryClient | None:
        """The open client; None while its connections are not open yet, or not any more."""
        if self.ended or not self._client.done() or self._client.cancelled() or self._client.exception() is not None:
            return None
        return self._client.result()

    @property
    def closing(self) -> bool:
        """Whether no worker uses it any more."""
        return self._last_user_left.is_set() or self.ended

    @property
    def ended(self) -> bool:
        """Whether its connections are closed."""
        return self._task.done()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop of its workers."""
        return self._task.get_loop()

    def follow(self, client: Client) -> None:
        """Gives the workers that the plugin made a client that replaces theirs, as when certificates are renewed."""
        self.clients.add(client)
        self._temporal = client
        for worker in self._own_workers:
            worker.client = client

    @contextlib.contextmanager
    def running(self, worker: Worker) -> Iterator[None]:
        """Notes, while the context is open, that a worker runs which the plugin made."""
        self._own_workers.add(worker)
        try:
            yield
        finally:
            self._own_workers.discard(worker)

    async def opened(self) -> None:
        """Waits until connections are open and the companion runs. Raises what kept them from it."""
        await asyncio.shield(self._client)

    async def close(self) -> None:
        """Closes the connections, to the end even if the caller is cancelled meanwhile."""
        self._last_user_left.set()
        await asyncio.shield(self._task)

    async def _serve(self) -> None:
        try:
            if self._after is not None:
                await self._after.close()
                self._after = None
            client = await self._connect()
        except Exception as error:  # noqa: BLE001 - whoever waits for `opened` gets it
            self._client.set_exception(error)
            return
        try:
            async with self._reloading(), self.ended_workflows.settling():
                await self._with_companion(client)
        finally:
            with contextlib.suppress(TimeoutError):
                # A store that does not answer must not hold up the end of a worker.
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await client.close()

    async def _settle(self, workflow_id: str) -> bool:
        owners = Owners(self.client, TemporalRuns(self._temporal))
        return await owners.settle(WorkflowId(self._temporal.namespace, workflow_id))

    async def _with_companion(self, client: MemoryClient) -> None:
        try:
            companion = self._make_companion(self)
            self._client.set_result(client)
            # It outlives the workers, so that it can run the flushes that their last appends asked for.
            async with companion or contextlib.nullcontext():
                await self._last_user_left.wait()
        except Exception as error:  # noqa: BLE001 - handed on or logged; it must not end workers that can go on
            if not self._client.done():
                self._client.set_exception(error)
                return
            _log.exception("the companion worker stopped: other workers of the project's queue have to run its flushes")
            await self._last_user_left.wait()


async def run_to_its_end(worker: Worker, run: Callable[[Worker], Awaitable[None]]) -> None:
    """Runs a worker that has been told to stop, so that it starts and ends at once.

    A plugin that raises must do this first: `async with worker` waits for the end of a worker, also of one that was
    never run.
    """
    stopping = asyncio.create_task(worker.shutdown())
    await run(worker)
    await stopping
