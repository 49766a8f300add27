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


async def run_fork(
    arguments: Sequence[str], stdin: bytes, cwd: Path, environment: Mapping[str, str]
) -> tuple[int, bytes, bytes]:
    """Runs `durable-memory` with these arguments to its end. Returns its exit code, stdout and stderr.

    What an interpreter reads only when it starts (PYTHONPATH, LC_ALL) does nothing here.
    """
    request = {"arguments": arguments, "cwd": str(cwd), "environment": dict(environment)}
    answer, theirs = socket.socketpair()
    with (
        TemporaryFile() as given,
        TemporaryFile() as out,
        TemporaryFile() as err,
        TemporaryFile() as asked,
        answer,
    ):
        for file, content in ((given, stdin), (asked, json.dumps(request).encode())):
            file.write(content)
            file.seek(0)
        with theirs:
            send_fds(_process(), [b"."], [file.fileno() for file in (given, out, err, asked, theirs)])
        code = await _ended(answer)
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()


async def _ended(answer: socket.socket) -> int:
    """Waits for the end of a fork, or ends it if nobody waits any more. Returns its exit code."""
    answer.setblocking(False)  # noqa: FBT003 - the signature is the library's
    loop = asyncio.get_running_loop()
    pid = _number(await loop.sock_recv(answer, 4))
    try:
        return _number(await loop.sock_recv(answer, 4))
    except asyncio.CancelledError:
        os.kill(pid, signal.SIGKILL)
        raise


def _bytes(number: int) -> bytes:
    return number.to_bytes(4, "big", signed=True)


def _number(read: bytes) -> int:
    assert len(read) == 4, "the process that forks has ended"
    return int.from_bytes(read, "big", signed=True)


@cache
def _process() -> socket.socket:
    """Starts the process that forks; it ends with this one."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, __file__, str(theirs.fileno())]
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
    from durable_memory.cli.app import main  # noqa: PLC0415
    from durable_memory.memory.stores.redis import connection  # noqa: F401, PLC0415
    from durable_memory.memory.tokens.counters import load_encodings  # noqa: PLC0415
    from durable_memory.memory.tokens.counting import DEFAULT_COUNTING  # noqa: PLC0415

    asyncio.run(load_encodings([DEFAULT_COUNTING]))
    gc.freeze()
    while True:
        _, descriptors, *_ = recv_fds(requests, 1, 5)
        if not descriptors:
            return
        child = os.fork()
        if child == 0:
            requests.close()
            _become(*descriptors)
            main()
        os.write(descriptors[-1], _bytes(child))
        _, status = os.waitpid(child, 0)
        os.write(descriptors[-1], _bytes(os.waitstatus_to_exitcode(status)))
        for descriptor in descriptors:
            os.close(descriptor)


def _become(stdin: int, stdout: int, stderr: int, asked: int, answer: int) -> None:
    """Gives this process the streams, the folder, the environment and the arguments of a request."""
    os.close(answer)
    for standard, descriptor in enumerate((stdin, stdout, stderr)):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    with open(asked, "rb") as file:
        request = json.load(file)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    sys.argv[1:] = request["arguments"]


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
