"""The Temporal plugin: ties memories, activities, flusher and cleanup to a client and its workers."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path

from temporalio import activity
from temporalio.client import Client
from temporalio.plugin import SimplePlugin
from temporalio.worker import Worker, WorkerConfig, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from durable_memory.activities import conversation, flush, lifecycle
from durable_memory.activities.current import ActivityInterceptor
from durable_memory.activities.waker import TemporalWaker
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.errors import MemoryFault, MemoryInvalid
from durable_memory.memory.flushing.summarizer import Summarizer
from durable_memory.memory.registry import Registry
from durable_memory.memory.settings import Settings
from durable_memory.workflows.cleanup import CleanupInterceptor
from durable_memory.workflows.flusher import MemoryFlusher

_DRAIN = timedelta(seconds=10)
_CLOSE_SECONDS = 5


@dataclasses.dataclass(slots=True)
class _Running:
    """What the running workers of one Temporal client share."""

    opening: asyncio.Task[MemoryClient]
    workers: int = 0


class MemoryPlugin(SimplePlugin):
    """Adds durable memory to a Temporal client and all its workers: `Client.connect(..., plugins=[MemoryPlugin()])`.

    It belongs on the client only; workers inherit it. Your data converter, codec and interceptors stay as they are. What is not given comes from the environment (REDIS_URL, DURABLE_MEMORY_MEMORIES, ...).

    redis_url, project, prefix: where memories are kept. memories: folders of YAML files, or a registry. task_queue: the
    project's queue, where flushers run. companion: run a second worker for that queue beside yours; switch it off where
    `worker.py` serves it. summarizer: writes the summaries. allow_in_memory: accept resources of persistence type
    in_memory, whose memories end with this process: for tests.
    """

    def __init__(
        self,
        *,
        redis_url: str | None = None,
        memories: Registry | Sequence[str | Path] | None = None,
        project: str | None = None,
        prefix: str | None = None,
        task_queue: str | None = None,
        companion: bool = True,
        summarizer: Summarizer | None = None,
        allow_in_memory: bool = False,
    ) -> None:
        """Loads the declarations. Raises MemoryInvalid that lists every fault in them."""
        settings = Settings()
        self._redis_url = redis_url or settings.redis_url
        self._project = project or settings.project
        self._prefix = prefix or settings.prefix
        self._task_queue = task_queue or settings.task_queue
        self._companion = companion
        self._summarizer = summarizer
        self._registry = memories if isinstance(memories, Registry) else Registry.load(memories or settings.memories)
        if not allow_in_memory:
            _refuse_in_memory(self._registry)
        self._running: dict[Client, _Running] = {}
        super().__init__(
            "durable_memory.MemoryPlugin",
            interceptors=[ActivityInterceptor(self._client_of_activity), CleanupInterceptor()],
            workflow_runner=_pass_through,
        )

    def configure_worker(self, config: WorkerConfig) -> WorkerConfig:
        """Adds the activities.

        On the project's own queue also the flusher and its steps. Raises ValueError if added twice.
        """
        activities = list(config.get("activities") or [])
        if conversation.append in activities:
            raise ValueError(
                "MemoryPlugin is registered twice: pass it to Client.connect, and not to the Worker as well"
            )
        activities += [*conversation.ACTIVITIES, lifecycle.cleanup]
        if config.get("task_queue") == self._task_queue:
            activities += flush.ACTIVITIES
            config["workflows"] = [*(config.get("workflows") or []), MemoryFlusher]
        config["activities"] = activities
        return super().configure_worker(config)

    async def run_worker(self, worker: Worker, next: Callable[[Worker], Awaitable[None]]) -> None:  # noqa: A002
        """Runs the worker with open connections, and the companion beside it."""
        async with self._connected(worker.client):
            if not self._companion or worker.task_queue == self._task_queue:
                await next(worker)
                return
            # The companion outlives the worker: flushes that its last appends asked for still have a home.
            companion = Worker(worker.client, task_queue=self._task_queue, graceful_shutdown_timeout=_DRAIN)
            async with companion:
                await next(worker)

    @contextlib.asynccontextmanager
    async def _connected(self, client: Client) -> AsyncIterator[None]:
        """Shares one memory client among the workers of a Temporal client; the last one to leave closes it."""
        running = self._running.get(client)
        if running is None:
            running = self._running[client] = _Running(asyncio.create_task(self._connect(client)))
        running.workers += 1
        try:
            await asyncio.shield(running.opening)
            yield
        finally:
            running.workers -= 1
            if not running.workers:
                del self._running[client]
                await asyncio.shield(_close(running.opening))

    async def _connect(self, client: Client) -> MemoryClient:
        return await MemoryClient.connect(
            self._redis_url,
            memories=self._registry,
            project=self._project,
            prefix=self._prefix,
            waker=TemporalWaker(client, self._task_queue),
            summarizer=self._summarizer,
        )

    def _client_of_activity(self) -> MemoryClient:
        return self._running[activity.client()].opening.result()


async def _close(opening: asyncio.Task[MemoryClient]) -> None:
    """Closes what was opened, within bounds: a store that does not answer must not hold up the end of a worker."""
    opening.cancel()
    with contextlib.suppress(asyncio.CancelledError, MemoryFault):
        memory_client = await opening
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(memory_client.close(), _CLOSE_SECONDS)


def _refuse_in_memory(registry: Registry) -> None:
    for resource in registry.memories():
        if resource.persistence.type == "in_memory":
            raise MemoryInvalid(
                f"{resource.id}: persistence.type in_memory keeps messages in one process and loses them with it; "
                "use redis, or MemoryPlugin(allow_in_memory=True) in a test"
            )


def _pass_through(runner: WorkflowRunner | None) -> WorkflowRunner:
    """Lets the sandbox take our modules as they are: they are deterministic, and importing them costs time."""
    if not isinstance(runner, SandboxedWorkflowRunner):
        return runner or SandboxedWorkflowRunner()
    restrictions = runner.restrictions.with_passthrough_modules("durable_memory")
    return dataclasses.replace(runner, restrictions=restrictions)
