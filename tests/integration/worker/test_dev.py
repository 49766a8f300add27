"""`--dev`: a worker with nothing running, from its start to an end that leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import psutil

from tests.integration.cli.programs import run_program
from tests.integration.worker.workers import WorkerProcess, eventually, worker_process
from tests.ports import quiet_ports

SCRIPT = (sys.executable, str(Path(__file__).parents[3] / "worker.py"))


async def addresses(worker: WorkerProcess) -> dict[str, str]:
    """Where the started servers are, for programs in other shells."""
    return {
        "REDIS_URL": (await worker.entry(redis=None))["redis"],
        "TEMPORAL_ADDRESS": (await worker.entry(temporal=None))["temporal"],
    }


async def sourced(file: str, *, cwd: Path) -> dict[str, str]:
    """The environment of a shell that has read the file, and had nothing before."""
    shell = await asyncio.create_subprocess_exec("/bin/sh", "-c", f". {file}; env", cwd=cwd, env={}, stdout=PIPE)
    output, _ = await shell.communicate()
    return dict(line.split("=", 1) for line in output.decode().splitlines())


async def test_a_worker_with_nothing_running_serves_and_leaves_nothing_behind(folder: Path) -> None:
    async with worker_process("--dev", "--log-format", "json", cwd=folder, command=SCRIPT) as worker:
        await worker.ready()
        servers = worker.children()
        assert {name for server in servers for name in ("valkey", "temporal") if name in server.name()} == {
            "valkey",
            "temporal",
        }
        given = await addresses(worker)
        told = await sourced(".durable-memory/env", cwd=folder)
        assert {name: told[name] for name in given} == given
        appended = await run_program("append", "thread", "k", "Kept over a restart", cwd=folder, **given)
        assert (appended.code, appended.err) == (0, "")
        assert await worker.end(signal.SIGTERM) == 0
        assert not any(server.is_running() and server.status() != psutil.STATUS_ZOMBIE for server in servers)

    async with worker_process("--dev", "--log-format", "json", cwd=folder, command=SCRIPT) as worker:
        await worker.ready()
        view = (await run_program("read", "thread", "k", "-o", "json", cwd=folder, **await addresses(worker))).json()
        assert [message["content"] for message in view["messages"]] == ["Kept over a restart"]
        assert await worker.end(signal.SIGINT) == 0
    assert {path.name for path in (folder / ".durable-memory").iterdir()} == {"temporal", "valkey"}


async def test_folder_and_ports_of_the_servers_can_be_chosen(folder: Path) -> None:
    redis, temporal, ui = quiet_ports(3)
    chosen = {"--dev-folder": "kept", "--dev-redis-port": redis, "--dev-temporal-port": temporal, "--dev-ui-port": ui}
    options = [str(part) for option in chosen.items() for part in option]
    async with worker_process("--dev", "--log-format", "json", *options, cwd=folder) as worker:
        assert await addresses(worker) == {
            "REDIS_URL": f"redis://127.0.0.1:{redis}/0",
            "TEMPORAL_ADDRESS": f"127.0.0.1:{temporal}",
        }
        assert (await worker.entry(temporal_ui=None))["temporal_ui"] == f"http://127.0.0.1:{ui}"
        await worker.text("its data is in kept/valkey")
        await worker.text(f"for other shells: . {folder}/kept/env")
        assert await worker.end(signal.SIGTERM) == 0


async def test_in_the_users_own_folder_the_file_is_found_by_any_shell_and_replaces_none_of_theirs(folder: Path) -> None:
    here = ("--dev", "--log-format", "json", "--dev-folder", ".")
    theirs = folder / "env"
    theirs.write_text("export MINE=1\n")
    async with worker_process(*here, cwd=folder) as worker:
        assert await worker.end() == 1
        [said] = worker.log_text().splitlines()
        assert "env is not of durable-memory" in said
    assert (theirs.read_text(), (folder / "valkey").exists()) == ("export MINE=1\n", False)
    theirs.unlink()
    async with worker_process(*here, cwd=folder) as worker:
        await worker.ready()
        told = await sourced(str(folder / "env"), cwd=Path("/"))
        await worker.text(f"for other shells: . {folder}/env")
        assert {name: told[name] for name in ("REDIS_URL", "TEMPORAL_ADDRESS")} == await addresses(worker)
        assert await worker.end(signal.SIGTERM) == 0
    assert not theirs.exists()


async def test_another_shell_with_the_exported_settings_wakes_this_worker(folder: Path) -> None:
    given = {"DURABLE_MEMORY_TASK_QUEUE": "queue-of-ours", "DURABLE_MEMORY_ENCODING": "cl100k_base"}
    options = ("--project", "of-ours")
    async with worker_process("--dev", "--log-format", "json", *options, cwd=folder, **given) as worker:
        await worker.ready()
        line = (folder / ".durable-memory" / "env").read_text()
        exported = dict(each.split("=", 1) for each in shlex.split(line, comments=True)[1:])
        assert exported == {
            **await addresses(worker),
            **given,
            "DURABLE_MEMORY_PROJECT": "of-ours",
            "DURABLE_MEMORY_MEMORIES": str(folder / "memories"),
        }
        full = json.dumps([{"role": "user", "content": "A sentence of about ten tokens, give or take. " * 2}] * 40)
        elsewhere = folder / "elsewhere"
        elsewhere.mkdir()
        appended = await run_program(*("append", "thread", "k", "--json", "-"), stdin=full, cwd=elsewhere, **exported)
        assert (appended.code, "flush due" in appended.out) == (0, True)

        async def flushed() -> bool:
            counted = await run_program("stats", "thread", "k", "-o", "json", cwd=elsewhere, **exported)
            return bool(counted.json()["last_flush_outcome"] == "committed")

        await eventually(flushed)
        assert await worker.end(signal.SIGTERM) == 0


async def test_the_web_page_of_temporal_is_named(folder: Path, redis_url: str) -> None:
    async with worker_process("--dev", cwd=folder, DURABLE_MEMORY_LOG_FORMAT="json", REDIS_URL=redis_url) as worker:
        assert (await worker.entry(temporal_ui=None))["temporal_ui"].startswith("http://127.0.0.1:")
        # The given Redis is used, so only one server was started.
        assert (await addresses(worker))["REDIS_URL"] == redis_url
        await worker.text("for other shells: ")
        assert "REDIS_URL" not in await sourced(".durable-memory/env", cwd=folder)
        assert [server.name() for server in worker.children()] == ["temporal"]
        assert await worker.end(signal.SIGTERM) == 0


async def test_servers_that_the_environment_names_are_used_and_not_started(
    folder: Path, redis_url: str, temporal_address: str, project: str
) -> None:
    given = {"REDIS_URL": redis_url, "TEMPORAL_ADDRESS": temporal_address, "DURABLE_MEMORY_TASK_QUEUE": project}
    async with worker_process("--dev", "--log-format", "json", cwd=folder, **given) as worker:
        await worker.ready()
        assert worker.children() == []
        assert await worker.end(signal.SIGTERM) == 0
    assert not (folder / ".durable-memory").exists()


async def test_a_killed_valkey_is_reported_at_once_and_replaced(folder: Path, temporal_address: str) -> None:
    given = {"TEMPORAL_ADDRESS": temporal_address}
    async with worker_process("--dev", "--log-format", "json", cwd=folder, **given) as worker:
        await worker.ready()
        redis_url = (await worker.entry(redis=None))["redis"]
        kept = {"REDIS_URL": redis_url, **given}
        await run_program("append", "thread", "k", "Kept", cwd=folder, **kept)
        [valkey] = worker.children()
        valkey.kill()
        said = "valkey ended with code -9 (Killed); it is started again with its data"
        await worker.entry(message=said, level="error")
        await worker.entry(message="valkey runs again")
        await worker.ready()
        view = (await run_program("read", "thread", "k", "-o", "json", cwd=folder, **kept)).json()
        assert [message["content"] for message in view["messages"]] == ["Kept"]
        assert await worker.end(signal.SIGTERM) == 0


async def test_a_killed_temporal_is_reported_at_once_and_ends_the_worker_with_an_error(
    folder: Path, redis_url: str
) -> None:
    async with worker_process("--dev", "--log-format", "console", cwd=folder, REDIS_URL=redis_url) as worker:
        await worker.text("polling")
        [temporal] = worker.children()
        temporal.kill()
        assert await worker.end() == 1
        said = "temporal ended with code -9 (Killed); its log and its data are in .durable-memory/temporal"
        assert f"error   {said}" in worker.log_text()
        assert worker.log_text().splitlines()[-1].startswith(f"Error: {said}")


async def test_people_get_readable_lines_unless_they_choose(
    folder: Path, redis_url: str, temporal_address: str, project: str
) -> None:
    given = {"REDIS_URL": redis_url, "TEMPORAL_ADDRESS": temporal_address, "DURABLE_MEMORY_TASK_QUEUE": project}
    async with worker_process("--dev", cwd=folder, **given) as worker:
        await worker.text("  http=http://127.0.0.1:")
        assert not worker.log_text().startswith("{")
        assert await worker.end(signal.SIGTERM) == 0


async def test_a_server_that_a_variable_left_over_names_is_named_with_it(folder: Path, temporal_address: str) -> None:
    gone = {"REDIS_URL": "redis://127.0.0.1:1/0", "TEMPORAL_ADDRESS": temporal_address}
    async with worker_process("--dev", cwd=folder, **gone) as worker:
        assert await worker.end() == 1
        assert "Redis at redis://127.0.0.1:1/0 cannot be reached" in worker.log_text()
        assert worker.log_text().endswith(
            "; REDIS_URL names it, so --dev started none: unset REDIS_URL TEMPORAL_ADDRESS to have one\n"
        )
    async with worker_process("--dev", cwd=folder, TEMPORAL_ADDRESS="127.0.0.1:1") as worker:
        assert await worker.end() == 1
        assert worker.log_text().endswith(
            "; TEMPORAL_ADDRESS names it, so --dev started none: unset TEMPORAL_ADDRESS to have one\n"
        )
    option = {"REDIS_URL": "redis://127.0.0.1:9/0", "TEMPORAL_ADDRESS": temporal_address}
    async with worker_process("--dev", "--redis-url", "redis://127.0.0.1:1/0", cwd=folder, **option) as worker:
        assert await worker.end() == 1
        assert "redis://127.0.0.1:1/0 cannot be reached: connection refused" in worker.log_text().splitlines()[-1]
        assert "--dev started none" not in worker.log_text()
