"""One supervisor for child servers: ready when it returns, one sentence when it fails, nothing left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from durable_memory.dev import ServerStartError, start_temporal, start_valkey
from durable_memory.dev.pid_file import PidFile
from durable_memory.dev.supervisor import ServerSpec, start_server

# Announces itself like a real server, on the port that it is given.
PROGRAM = """
import socket, sys, time
listener = socket.socket()
try:
    listener.bind(("127.0.0.1", int(sys.argv[1])))
except OSError as error:
    sys.exit(f"cannot listen: {error.strerror}")
listener.listen()
sys.stdout.write("ready to serve\\n")  # in one piece: it may be stopped right after the words
sys.stdout.flush()
time.sleep(600)
"""


def spec(program: str = PROGRAM, command: Callable[[Sequence[int]], Sequence[str]] | None = None) -> ServerSpec:
    def plain(ports: Sequence[int]) -> list[str]:
        return [sys.executable, "-c", program, str(ports[0])]

    return ServerSpec("toy", command or plain, port_count=1, ready_text="ready to serve")


def assert_gone(pid: int) -> None:
    """Waits for the end; a zombie has ended too, and stays one where nobody reaps orphans (a container's init)."""
    give_up = time.monotonic() + 20
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < give_up, f"process {pid} still runs"
        time.sleep(0.02)


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield int(listener.getsockname()[1])


async def test_a_started_server_answers_on_its_port_and_is_gone_after_stop(tmp_path: Path) -> None:
    server = await start_server(spec(), tmp_path)
    socket.create_connection(("127.0.0.1", server.ports[0]), timeout=5).close()
    await server.stop()
    assert server.exit_code == -signal.SIGTERM
    assert not psutil.pid_exists(server.pid)


async def test_a_server_that_ignores_sigterm_is_killed_when_stop_is_cancelled(tmp_path: Path) -> None:
    stubborn = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)" + PROGRAM
    server = await start_server(spec(stubborn), tmp_path)
    stopping = asyncio.create_task(server.stop())
    await asyncio.sleep(0.2)
    assert server.exit_code is None
    stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping
    assert server.exit_code == -signal.SIGKILL


async def test_a_lost_race_for_a_port_is_tried_again_with_another(tmp_path: Path, taken_port: int) -> None:
    tried: list[int] = []

    def command(ports: Sequence[int]) -> list[str]:
        tried.append(ports[0])
        port = taken_port if len(tried) == 1 else ports[0]
        return [sys.executable, "-c", PROGRAM, str(port)]

    server = await start_server(spec(command=command), tmp_path)
    await server.stop()
    assert len(tried) == 2
    assert server.ports == (tried[1],)


async def test_a_fixed_port_that_is_taken_is_an_error_and_not_another_port(tmp_path: Path, taken_port: int) -> None:
    with pytest.raises(ServerStartError, match=r"toy ended at its start with code 1: .*ddress already in use"):
        await start_server(spec(), tmp_path, ports=[taken_port])


async def test_a_server_that_dies_at_its_start_gives_the_last_line_of_its_log(tmp_path: Path) -> None:
    dying = "print('reading the disk'); print('the disk is full\\n'); raise SystemExit(3)"
    with pytest.raises(ServerStartError) as failure:
        await start_server(spec(dying), tmp_path)
    assert str(failure.value) == (f"toy ended at its start with code 3: the disk is full (log: {tmp_path / 'toy.log'})")


async def test_a_log_keeps_what_earlier_runs_wrote_and_a_run_is_judged_by_its_own_part(tmp_path: Path) -> None:
    first = await start_server(spec(), tmp_path)
    await first.stop()
    with pytest.raises(ServerStartError, match="ended at its start with code 3: it wrote nothing"):
        await start_server(spec("raise SystemExit(3)"), tmp_path)
    last = await start_server(spec(), tmp_path)
    await last.stop()
    assert (tmp_path / "toy.log").read_text() == "ready to serve\nready to serve\n"


async def test_a_server_that_never_gets_ready_is_given_up_and_ended(tmp_path: Path) -> None:
    def silent(_: Sequence[int]) -> list[str]:
        return [sys.executable, "-c", "import time; time.sleep(600)", str(tmp_path)]

    with pytest.raises(ServerStartError, match=r"toy was not ready after 0\.5 s"):
        await start_server(spec(command=silent), tmp_path, timeout_seconds=0.5)
    # By its command line: in half a second it may not have come so far as to tell its number.
    assert [one for one in psutil.process_iter(["cmdline"]) if str(tmp_path) in (one.info["cmdline"] or ())] == []


async def test_a_cancelled_start_leaves_no_server(tmp_path: Path) -> None:
    silent = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    starting = asyncio.create_task(start_server(spec(silent), tmp_path))
    log = tmp_path / "toy.log"
    while not log.exists() or not log.read_text().endswith("\n"):  # noqa: ASYNC110 -- a process, no event to wait for
        await asyncio.sleep(0.01)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert_gone(int(log.read_text()))


async def test_a_folder_serves_one_run_at_a_time(tmp_path: Path) -> None:
    server = await start_server(spec(), tmp_path)
    with pytest.raises(ServerStartError, match=r"another running process uses the folder .*; stop it first"):
        await start_server(spec(), tmp_path)
    assert server.exit_code is None
    await server.stop()
    await (await start_server(spec(), tmp_path)).stop()


async def test_a_server_does_not_get_the_ctrl_c_of_its_parent(tmp_path: Path) -> None:
    server = await start_server(spec(), tmp_path)
    assert os.getpgid(server.pid) != os.getpgid(0)
    await server.stop()


PARENT = textwrap.dedent(
    """
    import asyncio, json, pathlib, sys
    from durable_memory.dev import start_temporal, start_valkey

    async def main(folder, then):
        valkey = await start_valkey(folder / "valkey")
        temporal = await start_temporal(folder / "temporal", ui=False, keep=False)
        print(json.dumps([valkey.server.pid, temporal.server.pid]), flush=True)
        if then == "wait":
            await asyncio.sleep(600)

    asyncio.run(main(pathlib.Path(sys.argv[1]), sys.argv[2]))
    """
)


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux ties a child to its parent; the pid file serves elsewhere"
)
def test_a_kill_9_of_the_parent_leaves_no_server(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, tmp_path, "wait"], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pids = json.loads(parent.stdout.readline())
        assert all(psutil.pid_exists(pid) for pid in pids)
        parent.kill()
    for pid in pids:
        assert_gone(pid)


def test_the_end_of_the_interpreter_leaves_no_server(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PARENT, tmp_path, "end"], capture_output=True, text=True, check=True, timeout=300
    )
    assert not any(psutil.pid_exists(pid) for pid in json.loads(done.stdout))


@pytest.fixture
def left_over() -> Iterator[Callable[[Path, list[str]], int]]:
    """Starts a process that nobody stops, and records it in a pid file as a run that died did."""
    started: list[subprocess.Popen[bytes]] = []

    def leave(folder: Path, recorded: list[str]) -> int:
        command = [sys.executable, "-c", "import time; time.sleep(600)", "left over"]
        process = subprocess.Popen(command)
        started.append(process)
        while psutil.Process(process.pid).cmdline() != command:
            pass
        (folder / "toy.pid").write_text(json.dumps({"pid": process.pid, "command": recorded or command}))
        return process.pid

    yield leave
    for process in started:
        process.kill()
        process.wait()


async def test_a_server_that_a_dead_run_left_behind_is_ended_first(
    tmp_path: Path, left_over: Callable[[Path, list[str]], int]
) -> None:
    pid = left_over(tmp_path, [])
    server = await start_server(spec(), tmp_path)
    assert psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    await server.stop()


async def test_a_stranger_who_got_the_pid_of_a_dead_server_is_left_alone(
    tmp_path: Path, left_over: Callable[[Path, list[str]], int]
) -> None:
    pid = left_over(tmp_path, ["/usr/bin/valkey-server", "--port", "1"])
    server = await start_server(spec(), tmp_path)
    assert psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    await server.stop()


async def test_the_command_lines_that_the_pid_files_record_are_those_of_the_real_servers(tmp_path: Path) -> None:
    valkey = await start_valkey(tmp_path)
    temporal = await start_temporal(tmp_path, ui=False, keep=False)
    for server in (valkey.server, temporal.server):
        recorded = json.loads((tmp_path / f"{server.name}.pid").read_text())
        assert recorded == {"pid": server.pid, "command": psutil.Process(server.pid).cmdline()}
        server.kill()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": "x"}', '{"pid": 4000000, "command": ["gone"]}'])
def test_a_stale_or_damaged_pid_file_stops_nobody(tmp_path: Path, content: str) -> None:
    path = tmp_path / "toy.pid"
    path.write_text(content)
    pids = PidFile(path)
    pids.claim()
    pids.write(1, ["x"])
    pids.release()
    assert path.read_text() == ""
