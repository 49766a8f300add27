"""The command that runs the worker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from durable_memory.cli.options import Connection, SummarizerName
from durable_memory.cli.spread_options import spread_options
from durable_memory.dev import DevPlaces
from durable_memory.logs import configure_logs
from durable_memory.memory.settings import Settings

DevPort = Annotated[
    int | None,
    typer.Option(
        metavar="PORT",
        min=1,
        max=65_535,
        help="Of a server that --dev starts. Default: a free one.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions(Connection):
    """A connection, and the settings of the process that runs the worker.

    What all processes of a project must have alike, as its task queue, is no option: given to one, it would part it
    from the others.
    """

    summarizer: SummarizerName = None
    http_host: Annotated[
        str | None,
        typer.Option(
            "--http-host",
            metavar="ADDRESS",
            help="Where /livez, /readyz and /metrics are. Default: DURABLE_MEMORY_HTTP_HOST, else 127.0.0.1.",
            show_default=False,
        ),
    ] = None
    http_port: Annotated[
        int | None,
        typer.Option(
            "--http-port",
            metavar="PORT",
            help="Default: DURABLE_MEMORY_HTTP_PORT, else a free one, which the log names.",
            show_default=False,
        ),
    ] = None
    log_level: Annotated[
        str | None,
        typer.Option("--log-level", metavar="LEVEL", help="debug, info, warning or error.", show_default=False),
    ] = None
    log_format: Annotated[
        str | None,
        typer.Option(
            "--log-format",
            metavar="FORM",
            help="json or console. Default: json; with --dev, console.",
            show_default=False,
        ),
    ] = None

    def worker_settings(self) -> Settings:
        """Returns the settings with all options of the worker; see Connection.settings. Raises MemoryInvalid."""
        return self.settings(
            summarizer=self.summarizer,
            http_host=self.http_host,
            http_port=self.http_port,
            log_level=self.log_level,
            log_format=self.log_format,
        )


@spread_options
def worker(
    options: WorkerOptions,
    *,
    dev: Annotated[
        bool,
        typer.Option(
            "--dev",
            help="Bring a Temporal dev server and a Valkey along where the environment names none; "
            "their data stays in .durable-memory.",
        ),
    ] = False,
    dev_folder: Annotated[
        Path | None,
        typer.Option("--dev-folder", metavar="DIR", help="Instead of .durable-memory.", show_default=False),
    ] = None,
    dev_redis_port: DevPort = None,
    dev_temporal_port: DevPort = None,
    dev_ui_port: DevPort = None,
) -> None:
    """Run the worker until a signal.

    It flushes the project's memories in the background and serves callers of its activities by name. SIGTERM or Ctrl-C
    lets running work finish, another one, a second or more later, does not.
    """
    from durable_memory.worker.program import run_worker  # noqa: PLC0415 - the other commands start twice as fast

    places = {
        "folder": dev_folder,
        "redis_port": dev_redis_port,
        "temporal_port": dev_temporal_port,
        "ui_port": dev_ui_port,
    }
    given: dict[str, Any] = {name: value for name, value in places.items() if value is not None}
    if given and not dev:
        raise typer.BadParameter("--dev-folder and the ports are of the servers that --dev starts")
    settings = options.worker_settings()
    for_people = dev and "log_format" not in settings.model_fields_set
    configure_logs(settings.log_level, "console" if for_people else settings.log_format)
    run_worker(settings, dev=DevPlaces(**given) if dev else None)
