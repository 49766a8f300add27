"""The Temporal plugin: ties memories, activities, flusher and cleanup to a client and its workers."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from temporalio import activity
from temporalio.client import Client
from temporalio.plugin import SimplePlugin
from temporalio.worker import ReplayerConfig, Worker, WorkerConfig, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from durable_memory.activities import conversation, flush
from durable_memory.activities.interceptor import ActivityInterceptor
from durable_memory.activities.served import EVERY_WORKER, PROJECT_WORKER
from durable_memory.activities.waker import TemporalWaker
from durable_memory.audit_log import keep_audit_log
from durable_memory.memory.arguments import require_method
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.declarations.model_access import check_models
from durable_memory.memory.declarations.registry import Registry, checked_registry
from durable_memory.memory.declarations.watching import Watch
from durable_memory.memory.flushing.named import NamedSummarizer
from durable_memory.memory.flushing.summarizer import Summarizer
from durable_memory.memory.settings import Settings
from durable_memory.memory.stores.redis.url import check_url
from durable_memory.memory.tokens.counters import begin_to_load
from durable_memory.memory.tokens.counting import counting_named
from durable_memory.memory.types import InvalidValue
from durable_memory.running.early_refusals import (
    refuse_in_memory,
    refuse_pinned,
    refuse_without_keys,
    refuse_without_redis,
    warn_of_plain_payloads,
)
from durable_memory.running.janitor_schedule import ensure_janitor
from durable_memory.running.membership import WorkerGroups
from durable_memory.running.own_workers import OwnWorkers, worker_being_made
from durable_memory.running.reloading import Reloading
from durable_memory.running.start_log import log_start
from durable_memory.running.worker_group import WorkerGroup, run_to_its_end
from durable_memory.workflows.flusher import MemoryFlusher
from durable_memory.workflows.interceptor import WorkflowInterceptor
from durable_memory.workflows.janitor import MemoryJanitor

_WORKFLOWS = (MemoryFlusher, MemoryJanitor)


class MemoryPlugin(SimplePlugin):
    """Adds durable memory to a Temporal client and all its workers: `Client.connect(..., plugins=[MemoryPlugin()])`.

    It belongs on the client only; workers inherit it. Your data converter, codec and interceptors stay as they are.
    What is not given comes from the environment (REDIS_URL, DURABLE_MEMORY_MEMORIES, ...).

    redis_url, project, prefix: where memories are kept. memories: folders of YAML files, which are read again when they
    change while a worker runs, or a registry. task_queue: the project's queue, where flushers run; each project has its
    own unless one is given. encoding: how tokens of memories without token_provider are counted. encryption_keys:
    encrypts what Redis keeps, `id:base64` pairs of which the first one writes. telemetry_key: the secret behind the
    hashes of memories in spans and audit. companion: run a second worker for that queue beside yours; switch it off
    where `worker.py` serves it. janitor: ensure the schedule of the project's janitor, which finishes what terminated
    workflows leave; `worker.py` does that as well. cleanup: settle the memories of a workflow before it ends; without
    it, each ends where it returns, which loses no signal, and they are settled a moment later. summarizer: writes the
    summaries of all resources, in place of those that they declare; else the one that DURABLE_MEMORY_SUMMARIZER names.
    summary_slots: how many summaries that wait for a model are written at the same time. allow_in_memory: accept
    resources of persistence type in_memory, whose memories end with the last worker: for tests.
    """

    def __init__(  # noqa: PLR0913 - each is a choice of its own
        self,
        *,
        redis_url: str | None = None,
        memories: Registry | Sequence[str | Path] | None = None,
        project: str | None = None,
        prefix: str | None = None,
        task_queue: str | None = None,
        encoding: str | None = None,
        encryption_keys: str | None = None,
        telemetry_key: str | None = None,
        companion: bool = True,
        janitor: bool = False,
        cleanup: bool = True,
        summarizer: Summarizer | None = None,
        summary_slots: int | None = None,
        allow_in_memory: bool = False,
    ) -> None:
        """Loads the declarations, opens the audit log if there is one, and connects to nothing.

        Raises MemoryInvalid that lists every fault in them, and for wrong settings.
        """
        given = {
            "redis_url": redis_url,
            "project": project,
            "prefix": prefix,
            "task_queue": task_queue,
            "summary_slots": summary_slots,
            "encoding": encoding,
            "encryption_keys": encryption_keys,
            "telemetry_key": telemetry_key,
        }
        self._settings = settings = Settings(**{name: value for name, value in given.items() if value is not None})
        keep_audit_log(settings.audit_log)
        if settings.redis_url:
            check_url(settings.redis_url)
        self._companion = companion
        self._janitor = janitor
        require_method("summarize", summarizer=summarizer)
        self._summarizer = summarizer or settings.own_summarizer()
        if isinstance(self._summarizer, NamedSummarizer):
            self._summarizer.load()  # so that a wrong name fails here, and not in the first flush
        self._folders: Sequence[str | Path] = ()
        self._reloads: Reloading | None = None
        if isinstance(memories, Registry):
            self._registry = memories
        else:
            self._folders = settings.memories if memories is None else memories
            watch = Watch(self._folders)
            self._registry = watch.registry
            self._reloads = Reloading(watch, self.use, settings.reload_interval)
        self._allow_in_memory = allow_in_memory
        if not allow_in_memory:
            refuse_in_memory(self._registry)
        self._groups = WorkerGroups(self._make_group)
        self._own_workers = OwnWorkers(settings.task_queue, settings.summary_slots)
        self._served: weakref.WeakSet[Client] = weakref.WeakSet()
        """Clients of users' workers that run the project's flushes themselves, and need no companion."""
        super().__init__(
            "durable_memory.MemoryPlugin",
            interceptors=[
                ActivityInterceptor(self._client_of_activity),
                WorkflowInterceptor(None if cleanup else self._groups.note_end),
            ],
            workflow_runner=_pass_through,
            # Input that a call refuses fails the workflow, not its task for ever.
            workflow_failure_exception_types=[InvalidValue],
        )

    def use(self, registry: Registry) -> None:
        """Puts other declarations in force for the calls that begin from now on; running ones keep theirs.

        If the plugin was given folders, a later change of their files replaces these declarations again. Raises
        MemoryInvalid, and changes nothing, for declarations that the plugin would have refused at its start.
        """
        checked_registry(registry)
        if not self._allow_in_memory:
            refuse_in_memory(registry)
        refuse_without_keys(registry, self._settings)
        self._check_models(registry, serves=bool(self._served))
        clients = self._groups.open_clients()
        for client in clients:  # all of them, before the first one changes
            client.parts.check(registry)
        for client in clients:
            client.use(registry)
        self._registry = registry
        if clients:
            self._begin_to_load()

    def configure_worker(self, config: WorkerConfig) -> WorkerConfig:
        """Adds the activities.

        On the project's own queue also flusher and janitor with their steps. Raises ValueError if added twice, or to a
        worker, and MemoryInvalid for what this process lacks to run the worker: a client or a replayer lacks nothing.
        """
        activities = list(config.get("activities") or [])
        if conversation.append in activities:
            raise ValueError(
                "MemoryPlugin is registered twice: pass it to Client.connect once, and not to the Worker as well"
            )
        client = config.get("client")
        if client is None or self not in client.config(active_config=True)["plugins"]:
            raise ValueError("MemoryPlugin belongs on the client, whose workers inherit it: pass it to Client.connect")
        own = worker_being_made()
        if own is not None:
            # Another plugin may version all workers. Flushes must not be pinned, nor wait for a current version.
            config["deployment_config"] = None
        if own == "summary_worker":
            config["activities"] = [flush.summarize]
            return super().configure_worker(config)
        serves = config.get("task_queue") == self._settings.task_queue
        if own is None:
            self._check_needs(serves=serves)
            warn_of_plain_payloads(client, self._settings)
            if serves:
                refuse_pinned(config)
                self._own_workers.refuse_beside_companion(client)
                self._served.add(client)
        activities += EVERY_WORKER.values()
        if serves:
            activities += PROJECT_WORKER.values()
            config["workflows"] = [*(config.get("workflows") or []), *_WORKFLOWS]
        config["activities"] = activities
        return super().configure_worker(config)

    def configure_replayer(self, config: ReplayerConfig) -> ReplayerConfig:
        """Adds flusher and janitor, so that their histories can be replayed as well."""
        config["workflows"] = [*(config.get("workflows") or []), *_WORKFLOWS]
        return super().configure_replayer(config)

    async def run_worker(self, worker: Worker, next: Callable[[Worker], Awaitable[None]]) -> None:
        """Runs the worker with open connections, beside a companion and a worker that writes slow summaries."""
        if self._own_workers.writes_summaries(worker):
            await next(worker)
            return
        group = self._own_workers.group_of_companion(worker)
        if group is not None:
            with group.running(worker):
                async with self._own_workers.beside(worker, group):
                    await next(worker)
            return
        async with self._groups.joined(worker) as group:
            try:
                await group.opened()
            except Exception:
                await run_to_its_end(worker, next)
                raise
            async with self._groups.followed(worker, group), self._own_workers.beside(worker, group):
                await next(worker)

    def _make_group(self, client: Client, after: WorkerGroup | None) -> WorkerGroup:
        return WorkerGroup(
            client,
            lambda: self._connect(client),
            partial(self._make_companion, client),
            nullcontext if self._reloads is None else self._reloads.watched,
            after=after,
        )

    def _make_companion(self, client: Client, group: WorkerGroup) -> Worker | None:
        if not self._companion or client in self._served:
            return None
        return self._own_workers.make_companion(client, group)

    def _check_needs(self, *, serves: bool) -> None:
        """Refuses a worker that could only fail, before a workflow is started for it.

        serves: whether it will run the project's flushes itself.
        """
        refuse_without_redis(self._registry, self._settings)
        refuse_without_keys(self._registry, self._settings)
        self._check_models(self._registry, serves=serves or bool(self._served))

    def _check_models(self, registry: Registry, *, serves: bool) -> None:
        """Refuses models that this process would have to ask and cannot.

        serves: whether a worker of a user runs the project's flushes.
        """
        if self._summarizer is None and (self._companion or serves):
            check_models(registry)

    async def _connect(self, client: Client) -> MemoryClient:
        settings = self._settings
        if self._janitor:
            await ensure_janitor(
                client, project=settings.project, task_queue=settings.task_queue, interval=settings.janitor_interval
            )
        memories = await MemoryClient.connect(
            memories=self._registry,
            waker=TemporalWaker(client, settings.task_queue),
            summarizer=self._summarizer,
            **settings.of_client(),
        )
        try:
            log_start(memories, settings, self._folders)
            if memories.registry is not self._registry:
                memories.use(self._registry)  # `use` was called meanwhile
            self._begin_to_load()
        except BaseException:
            await memories.close()
            raise
        return memories

    def _begin_to_load(self) -> None:
        """Begins to load the tokenizers of the declared memories, which no append should wait for."""
        default = counting_named(self._settings.encoding)
        begin_to_load(resource.counting or default for resource in self._registry.memories())

    def _client_of_activity(self) -> MemoryClient:
        return self._groups.of_activity(activity.client()).client


def _pass_through(runner: WorkflowRunner | None) -> WorkflowRunner:
    """Lets the sandbox take our modules as they are: they are deterministic, and importing them costs time.

    Those of redis-py too, although no workflow uses them: the finalizer of a connection pool imports one, and may run
    in the middle of an import. The sandbox would load it anew then, an import within an import, which fails before
    Python 3.12: the worker could not be made.
    """
    if not isinstance(runner, SandboxedWorkflowRunner):
        return runner or SandboxedWorkflowRunner()
    restrictions = runner.restrictions.with_passthrough_modules("durable_memory", "redis")
    return dataclasses.replace(runner, restrictions=restrictions)
