"""What the workers of one process share: open connections, and the companion worker that runs their flushes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import weakref
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager

from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory.memory.client import MemoryClient
from durable_memory.memory.declarations.registry import Registry

_log = logging.getLogger(__name__)
_CLOSE_SECONDS = 5


class Shared:
    """Opened for the first worker, closed after the last one.

    It lives in a task of its own: which worker starts first or stops last decides nothing. Temporal allows one worker
    for a task queue and client in a process, so the companion is shared as well.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[MemoryClient]],
        make_companion: Callable[[Shared], Worker | None],
        reloading: Callable[[], AbstractAsyncContextManager[None]],
        *,
        after: Shared | None,
    ) -> None:
        """Begins to open.

        reloading: keeps declarations up to date meanwhile. after: what served the same workers before and may still be
        closing.
        """
        self.users = 0
        self.clients: weakref.WeakSet[Client] = weakref.WeakSet()
        """Temporal clients of the workers that it serves."""
        self.beside: set[Worker] = set()
        """The running workers of ours, beside those of users."""
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

    def use(self, registry: Registry) -> None:
        """Puts other declarations in force, as far as it is open; see MemoryClient.use."""
        if self._client.done() and not self._client.cancelled() and self._client.exception() is None:
            self._client.result().use(registry)

    @property
    def closing(self) -> bool:
        """Whether it serves nobody any more."""
        return self._last_user_left.is_set() or self.ended

    @property
    def ended(self) -> bool:
        """Whether its connections are closed."""
        return self._task.done()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Where its workers run."""
        return self._task.get_loop()

    def follow(self, client: Client) -> None:
        """Gives our workers the client that a user gave one of theirs, as where certificates are renewed."""
        self.clients.add(client)
        for worker in self.beside:
            worker.client = client

    async def opened(self) -> None:
        """Waits until connections are open and the companion runs. Raises what kept them from it."""
        await asyncio.shield(self._client)

    async def close(self) -> None:
        """Closes; also to the end if the caller is cancelled meanwhile."""
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
            async with self._reloading():
                await self._with_companion(client)
        finally:
            with contextlib.suppress(TimeoutError):
                # A store that does not answer must not hold up the end of a worker.
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await client.close()

    async def _with_companion(self, client: MemoryClient) -> None:
        try:
            companion = self._make_companion(self)
            self._client.set_result(client)
            # It outlives the workers: flushes that their last appends asked for still have a home.
            async with companion or contextlib.nullcontext():
                await self._last_user_left.wait()
        except Exception as error:  # noqa: BLE001 - handed on or logged; it must not end workers that can go on
            if not self._client.done():
                self._client.set_exception(error)
                return
            _log.exception("the companion worker stopped: other workers of the project's queue have to run its flushes")
            await self._last_user_left.wait()


@contextlib.contextmanager
def beside(shared: Shared, worker: Worker) -> Iterator[None]:
    """Notes that a worker of ours runs."""
    shared.beside.add(worker)
    try:
        yield
    finally:
        shared.beside.discard(worker)


async def run_to_its_end(worker: Worker, run: Callable[[Worker], Awaitable[None]]) -> None:
    """Runs a worker that is told to stop before it starts.

    Where a plugin raises instead of running the worker, `async with worker` would wait for its end for ever.
    """
    stopping = asyncio.create_task(worker.shutdown())
    await run(worker)
    await stopping
