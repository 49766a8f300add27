"""Starts a child server on a free loopback port, waits until it is ready, and never leaves it behind.

A server ends with its context, with the interpreter, and (Linux) with a kill -9 of this process. What a kill -9 leaves
elsewhere is found through the pid file at the next start. Each server owns a folder: its data, log and pid file.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from durable_memory.dev import tether
from durable_memory.dev.pid_file import FolderInUse, PidFile

_POLL_SECONDS = 0.01
_LOOK_SECONDS = 0.1
_PORT_ATTEMPTS = 5
_STOP_GRACE_SECONDS = 10.0


class ServerStartError(RuntimeError):
    """A development server could not be started. The text is one sentence that says why and what to do."""


class ServerEndedError(RuntimeError):
    """A development server ended while it was used. The text is one sentence that says how and what to do."""


class _PortTakenError(ServerStartError):
    """Somebody else listens on the port."""


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """What to start.

    name: names the log and the pid file, and appears in errors. command: builds the command line, program first, from
    the ports. port_count: how many ports the server listens on. ready_text: what the server writes to its log once it
    answers; no probe of the port, because somebody else's server could answer on a port that was lost in a race.
    """

    name: str
    command: Callable[[Sequence[int]], Sequence[str]]
    port_count: int
    ready_text: str


class Server:
    """A running child server."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], ports: Sequence[int], pids: PidFile) -> None:
        self.name = name
        self.ports = tuple(ports)
        self._process = process
        self._pids = pids
        atexit.register(self.kill)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while the server runs; negative if a signal ended it."""
        return self._process.poll()

    async def ended(self) -> int:
        """Returns its exit code once it has one."""
        while (code := self.exit_code) is None:  # noqa: ASYNC110 - a process gives no sign
            await asyncio.sleep(_LOOK_SECONDS)
        return code

    async def stop(self) -> None:
        """Asks the server to end (SIGTERM), and kills it if it is slow (ten seconds) or if this call is cancelled."""
        try:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(self._process.wait, _STOP_GRACE_SECONDS)
        finally:
            self.kill()

    def kill(self) -> None:
        """Ends the server at once (SIGKILL), as a crash would. Ending it twice does no harm."""
        atexit.unregister(self.kill)
        self._process.kill()
        self._process.wait()
        self._pids.release()


async def start_server(
    spec: ServerSpec, folder: Path, *, ports: Sequence[int] = (), timeout_seconds: float = 90
) -> Server:
    """Starts a server and returns it when it is ready.

    Await it on a thread that lives as long as the server should: Linux ties the two together.

    folder: holds the data, the log and the pid file; made if missing. Two runs cannot share it at one time. ports:
    fixed ones; none takes free ones, and others again if somebody was faster. timeout_seconds: how long the server may
    take to become ready. Raises ServerStartError if the folder is in use, a fixed port is taken, or the server ended or
    did not become ready.
    """
    attempts = 1 if ports else _PORT_ATTEMPTS
    for _ in range(attempts - 1):
        with contextlib.suppress(_PortTakenError):
            return await _start_once(spec, folder, free_ports(spec.port_count), timeout_seconds)
    return await _start_once(spec, folder, ports or free_ports(spec.port_count), timeout_seconds)


def free_ports(count: int) -> tuple[int, ...]:
    """Returns loopback ports that were free a moment ago, all different."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return tuple(int(each.getsockname()[1]) for each in sockets)


async def _start_once(spec: ServerSpec, folder: Path, ports: Sequence[int], timeout_seconds: float) -> Server:
    server, log = _launch(spec, folder, ports)
    try:
        await _wait_until_ready(spec, server, log, timeout_seconds)
    except BaseException:
        server.kill()
        raise
    return server


@dataclass(frozen=True, slots=True)
class _Log:
    """The log of one run, which stands in the file behind those of earlier ones."""

    path: Path
    begins_at: int

    def text(self) -> str:
        """Returns what this run has written."""
        with self.path.open("rb") as file:
            file.seek(self.begins_at)
            return file.read().decode("utf-8", "replace")


def _launch(spec: ServerSpec, folder: Path, ports: Sequence[int]) -> tuple[Server, _Log]:
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    pids = PidFile(folder / f"{spec.name}.pid")
    try:
        pids.claim()
    except FolderInUse:
        raise ServerStartError(
            f"{spec.name}: another running process uses the folder {folder}; stop it first, or name another folder."
        ) from None
    command = list(spec.command(ports))
    path = folder / f"{spec.name}.log"
    # Why the run before ended is what somebody looks for who has just started it again.
    with path.open("ab") as log:
        written = _Log(path, log.tell())
        process = subprocess.Popen(  # noqa: S603 -- the program comes from the installed package or PATH
            [sys.executable, "-I", "-S", tether.__file__, str(os.getpid()), *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            start_new_session=True,  # a Ctrl-C is for us alone: the servers outlive the worker that drains
        )
    pids.write(process.pid, command)
    return Server(spec.name, process, ports, pids), written


async def _wait_until_ready(spec: ServerSpec, server: Server, log: _Log, timeout_seconds: float) -> None:
    deadline = time.monotonic() + timeout_seconds
    while not _is_ready(spec, server, log):
        if time.monotonic() > deadline:
            raise ServerStartError(f"{spec.name} was not ready after {timeout_seconds:g} s (log: {log.path})")
        await asyncio.sleep(_POLL_SECONDS)


def _is_ready(spec: ServerSpec, server: Server, log: _Log) -> bool:
    ended = server.exit_code is not None  # asked before the log is read, so that its last line is in it
    text = log.text()
    if ended:
        last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it wrote nothing")
        kind = _PortTakenError if "address already in use" in text.lower() else ServerStartError
        raise kind(f"{spec.name} ended at its start with code {server.exit_code}: {last} (log: {log.path})")
    return spec.ready_text in text
