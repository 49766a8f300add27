"""The worker: a process that runs the flushes of a project, and the activities of callers by name, until a signal."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import shlex
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from datetime import timedelta

from temporalio.client import Client
from temporalio.envconfig import ClientConfigProfile
from temporalio.runtime import LogForwardingConfig, LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.worker import Worker, WorkerDeploymentConfig

from durable_memory.dev import DevPlaces, dev_servers
from durable_memory.dev.env_file import env_file, export_line, require_ours
from durable_memory.exit import leave
from durable_memory.logs import log_lost_errors
from durable_memory.memory.declarations.model_access import cannot_summarize, missing_counting_key
from durable_memory.memory.declarations.watching import Watch
from durable_memory.memory.errors import MemoryInvalid, MemoryUnavailable
from durable_memory.memory.settings import Settings
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.memory.stores.redis.url import redact_url
from durable_memory.plugin import MemoryPlugin
from durable_memory.running.early_refusals import refuse_without_keys
from durable_memory.running.reloading import Reloading
from durable_memory.temporal_connection import check_namespace, connect_temporal, load_profile
from durable_memory.worker.deployment import deployment_of
from durable_memory.worker.http import serving
from durable_memory.worker.metrics import WorkerMetrics, install_metrics
from durable_memory.worker.overdue_watch import OverdueFlushes
from durable_memory.worker.readiness import Readiness
from durable_memory.worker.shells import secrets_of, shell_variables
from durable_memory.worker.spans import exporting_spans

DRAIN = timedelta(seconds=10)
"""How long running activities may go on after the first signal."""

_ONE_WISH_SECONDS = 1
"""Signals this close together are one wish: a terminal and a supervisor, or `timeout` twice, send the same one."""

_CONNECT_SECONDS = 5

_log = logging.getLogger(__name__)


def run_worker(settings: Settings, *, dev: DevPlaces | None) -> None:
    """Runs until SIGTERM or SIGINT, then lets running work finish; another one, a second or more later, does not wait.

    SIGHUP reads the declarations again.

    dev: where to start the servers that the settings and the environment do not name, which are stopped at the end;
    None starts nothing.
    Raises MemoryFault or ServerStartError, one sentence each, if it cannot begin.
    """
    asyncio.run(_until_signal(settings, dev=dev))


async def _until_signal(settings: Settings, *, dev: DevPlaces | None) -> None:
    """The first signal cancels the work: wherever it stands, what it opened closes in order."""
    loop, reload = asyncio.get_running_loop(), asyncio.Event()
    log_lost_errors(loop)
    loop.add_signal_handler(signal.SIGHUP, reload.set)  # before anything is read: it would end the process
    running = asyncio.create_task(_work(settings, reload, dev=dev))
    stopping_since: float | None = None

    def stop(number: signal.Signals) -> None:
        nonlocal stopping_since
        if stopping_since is None:
            stopping_since = loop.time()
            _log.info("stopping; another signal a second later ends at once", extra={"signal": number.name})
            running.cancel()
        elif loop.time() - stopping_since >= _ONE_WISH_SECONDS:
            _log.warning("a second signal: ending at once", extra={"signal": number.name})
            leave(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    try:
        await running
    except asyncio.CancelledError:
        if stopping_since is None:
            raise
        _log.info("stopped")


async def _work(settings: Settings, reload: asyncio.Event, *, dev: DevPlaces | None) -> None:
    deployment = deployment_of(os.environ)
    # A summariser of the program's own writes for all resources: then their models are not asked.
    watch = Watch(settings.memories, check=cannot_summarize if settings.summarizer is None else None)
    refuse_without_keys(watch.registry, settings)  # before servers are started or asked
    for note in watch.registry.faults(missing_counting_key):
        _log.warning("%s", note)
    metrics = install_metrics()
    async with AsyncExitStack() as stack:
        stack.enter_context(exporting_spans(os.environ))
        redis_url, profile = await stack.enter_async_context(_servers(settings, dev=dev))
        plugin = MemoryPlugin(
            memories=watch.registry,
            task_queue=settings.task_queue,
            companion=False,
            janitor=True,
            summarizer=settings.own_summarizer(),
            summary_slots=settings.summary_slots,
            **settings.model_copy(update={"redis_url": redis_url}).of_client(),
        )
        with _naming("REDIS_URL", redis_url, dev=dev):
            backend = await connect_redis(redis_url, prefix=settings.prefix)  # for the probes
        stack.push_async_callback(backend.store.close)
        late = OverdueFlushes(backend, settings.project, lambda: watch.registry)
        with _naming("TEMPORAL_ADDRESS", profile.address, dev=dev):
            client = await connect_temporal(
                profile,
                payload_keys=settings.payload_keys,
                plugins=[plugin],
                runtime=_runtime(metrics),
                identity=_identity(),
            )
        await check_namespace(client)
        await stack.enter_async_context(metrics.collecting())
        reloads = Reloading(watch, plugin.use, settings.reload_interval)
        readiness = Readiness(
            backend.store,
            client,
            settings.task_queue,
            metrics,
            notes=lambda: [*backend.warnings, *late.notes, *reloads.notes],
        )
        await _serve_probes(stack, settings, readiness)
        await stack.enter_async_context(late.watched())
        await stack.enter_async_context(reloads.watched(reload))
        await _poll(client, settings.task_queue, readiness, deployment)


@asynccontextmanager
async def _servers(settings: Settings, *, dev: DevPlaces | None) -> AsyncIterator[tuple[str, ClientConfigProfile]]:
    """Finds the servers, or brings them along."""
    profile = load_profile()
    if dev is None:
        if settings.redis_url is None:
            raise MemoryInvalid("REDIS_URL is not set; set it, or start with --dev, which brings its own servers")
        if profile.address is None:
            raise MemoryInvalid(
                "TEMPORAL_ADDRESS is not set; set it, or start with --dev, which brings its own servers"
            )
        yield settings.redis_url, profile
        return
    file = dev.folder / "env"
    if settings.redis_url is None or profile.address is None:
        require_ours(file)  # before anything is started
    async with dev_servers(dev, redis_url=settings.redis_url, temporal_address=profile.address) as servers:
        for name in servers.started:
            _log.info("started %s for development; its data is in %s", name, dev.folder / name)
        _log.info("Redis", extra={"redis": redact_url(servers.redis_url)})
        _log.info("Temporal", extra={"temporal": servers.temporal_address})
        if servers.temporal_ui:
            _log.info("Temporal UI", extra={"temporal_ui": servers.temporal_ui})
        variables = shell_variables(settings, servers)
        if names := secrets_of(settings):
            _log.info("other shells need the same %s", names)
        with ExitStack() as stack:
            if servers.started:
                stack.enter_context(env_file(file, variables))
                # Whole, so that it is found from any folder: a bare name would be looked for on the PATH.
                _log.info("for other shells: . %s", shlex.quote(str(file.resolve())))
            else:
                _log.info("for other shells: %s", export_line(variables))
            yield servers.redis_url, load_profile(servers.temporal_address)


@contextlib.contextmanager
def _naming(variable: str, address: str | None, *, dev: DevPlaces | None) -> Iterator[None]:
    """Adds to the error of a server that cannot be reached why --dev started none: a variable names that server."""
    try:
        yield
    except MemoryUnavailable as error:
        if dev is None or os.environ.get(variable) != address:
            raise
        named = " ".join(name for name in ("REDIS_URL", "TEMPORAL_ADDRESS") if os.environ.get(name))
        raise MemoryUnavailable(
            f"{error.message.rstrip('.')}; {variable} names it, so --dev started none: unset {named} to have one"
        ) from None


async def _serve_probes(stack: AsyncExitStack, settings: Settings, readiness: Readiness) -> None:
    """Serves the probes until the stack closes."""
    paths = {"/livez": readiness.livez, "/readyz": readiness.readyz, "/metrics": readiness.metricsz}
    try:
        address = await stack.enter_async_context(serving(settings.http_host, settings.http_port, paths))
    except OSError as error:
        raise MemoryInvalid(
            f"DURABLE_MEMORY_HTTP_HOST, DURABLE_MEMORY_HTTP_PORT: {settings.http_host}:{settings.http_port} cannot be "
            f"listened on: {error.strerror}; choose an address of this machine, and another port, or 0 for a free one"
        ) from None
    _log.info("probes and metrics", extra={"http": address})


async def _poll(
    client: Client, task_queue: str, readiness: Readiness, deployment: WorkerDeploymentConfig | None
) -> None:
    worker = Worker(client, task_queue=task_queue, graceful_shutdown_timeout=DRAIN, deployment_config=deployment)
    place = {"task_queue": task_queue, "namespace": client.namespace}
    if deployment is not None:
        place["deployment_version"] = deployment.version.to_canonical_string()
    _log.info("polling", extra=place)
    running = asyncio.create_task(worker.run())
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        readiness.draining = True
        running.cancel()  # the worker takes this as the wish to finish what runs
        with contextlib.suppress(asyncio.CancelledError):
            await running
        raise
    except RuntimeError as error:
        # What follows the sentence is the whole answer of the server.
        raise MemoryUnavailable(f"the worker ended: {str(error).partition(': Status')[0]}") from None


def _runtime(metrics: WorkerMetrics) -> Runtime:
    """Lets Temporal's core write its logs and measure through ours. Fields of its log entries may hold payloads."""
    forwarding = LogForwardingConfig(logging.getLogger("temporalio"), append_log_fields_to_message=False)
    return Runtime(
        telemetry=TelemetryConfig(
            logging=LoggingConfig(TelemetryFilter(core_level="WARN", other_level="ERROR"), forwarding=forwarding),
            metrics=metrics.buffer,
        )
    )


def _identity() -> str:
    """Tells this process from an earlier one of the same host and process id, as in a restarted container."""
    return f"{os.getpid()}@{socket.gethostname()}/{secrets.token_hex(4)}"
