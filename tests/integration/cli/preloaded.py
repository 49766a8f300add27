"""Runs `durable-memory` in forks of a process that has imported it, since that is nearly all of what a command takes.

As a script it is that process: it forks for each request on the socket of its argument, until that is closed.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from socket import recv_fds, send_fds
from tempfile import TemporaryFile


class Fork:
    """A process that was forked to run `durable-memory`; `answer` tells of its end."""

    def __init__(self, pid: int, answer: socket.socket) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._end = asyncio.create_task(self._ended(answer))

    async def _ended(self, answer: socket.socket) -> int:
        with answer:
            self.returncode = await _number(answer)
        return self.returncode

    async def wait(self) -> int:
        """Returns its exit code when it has one."""
        return await asyncio.shield(self._end)

    def send_signal(self, number: int) -> None:
        """Sends a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Ends it as nothing can prevent."""
        self.send_signal(signal.SIGKILL)


async def start_fork(
    arguments: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    *,
    stderr: int,
    stdin: int | None = None,
    stdout: int | None = None,
) -> Fork:
    """Starts `durable-memory` with these arguments and streams; None is /dev/null.

    What an interpreter reads only when it starts (PYTHONPATH, LC_ALL) does nothing here.
    """
    streams = {0: stdin, 1: stdout, 2: stderr}
    given = {standard: stream for standard, stream in streams.items() if stream is not None}
    request = {
        "arguments": arguments,
        "cwd": str(cwd),
        "environment": dict(environment),
        "streams": list(given),
    }
    answer, theirs = socket.socketpair()
    answer.setblocking(False)  # noqa: FBT003 - the signature is the library's
    with theirs, TemporaryFile() as asked:
        asked.write(json.dumps(request).encode())
        asked.seek(0)
        send_fds(_process(), [b"."], [theirs.fileno(), asked.fileno(), *given.values()])
    return Fork(await _number(answer), answer)


async def run_fork(
    arguments: Sequence[str], stdin: bytes, cwd: Path, environment: Mapping[str, str]
) -> tuple[int, bytes, bytes]:
    """Runs `durable-memory` with these arguments to its end. Returns its exit code, stdout and stderr."""
    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        streams = {"stdin": given.fileno(), "stdout": out.fileno(), "stderr": err.fileno()}
        fork = await start_fork(arguments, cwd, environment, **streams)
        try:
            code = await fork.wait()
        except asyncio.CancelledError:
            fork.kill()
            raise
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()


def _bytes(number: int) -> bytes:
    return number.to_bytes(4, "big", signed=True)


async def _number(answer: socket.socket) -> int:
    read = await asyncio.get_running_loop().sock_recv(answer, 4)
    assert len(read) == 4, "the process that forks has ended"
    return int.from_bytes(read, "big", signed=True)


@cache
def _process() -> socket.socket:
    """Starts the process that forks; it ends with this one."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-P", __file__, str(theirs.fileno())]
        process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _serve(requests: socket.socket) -> None:
    # All that a command imports and loads, also what it does later; the process of the tests is spared it.
    from typer.main import get_group  # noqa: PLC0415 - only here

    from durable_memory.cli.app import app, main  # noqa: PLC0415 - the same
    from durable_memory.cli.commands import LateCommand  # noqa: PLC0415 - the same
    from durable_memory.memory.flushing.llm import summarizer  # noqa: F401, PLC0415 - the same
    from durable_memory.memory.stores.redis import connection  # noqa: F401, PLC0415 - the same
    from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter  # noqa: PLC0415 - the same
    from durable_memory.worker import program  # noqa: F401, PLC0415 - the same

    for command in get_group(app).commands.values():
        assert isinstance(command, LateCommand)
        command.loaded()
    assert asyncio.run(TiktokenCounter(load_wait_seconds=60).load())
    gc.freeze()
    answers: dict[int, int] = {}

    def tell(*_: object) -> None:
        # A handler of Python's is interrupted by the next signal: two children that end together would be told twice.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        for child in list(answers):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                _answer(answers[child], os.waitstatus_to_exitcode(status))
                os.close(answers.pop(child))
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    signal.signal(signal.SIGCHLD, tell)
    while descriptors := recv_fds(requests, 1, 5)[1]:
        answer, asked, *streams = descriptors
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # until `tell` knows of it
        child = os.fork()
        if child == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            for other in (answer, *answers.values()):
                os.close(other)
            _become(asked, streams)
            main()
        for descriptor in (asked, *streams):
            os.close(descriptor)
        _answer(answer, child)
        answers[child] = answer
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


def _answer(answer: int, number: int) -> None:
    try:
        os.write(answer, _bytes(number))
    except BrokenPipeError:
        return  # nobody waits any more


def _become(asked: int, streams: Sequence[int]) -> None:
    """Gives this process the streams, the folder, the environment and the arguments of a request."""
    with open(asked, "rb") as file:
        request = json.load(file)
    for standard, descriptor in zip(request["streams"], streams, strict=True):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    sys.argv[1:] = request["arguments"]


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
