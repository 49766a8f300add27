"""The checklist of docs/first-week.md: its Redis, its settings and declaration, and its commands in their order."""

from __future__ import annotations

import asyncio
import base64
import os
import re
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from temporalio.client import Client

from durable_memory.dev.supervisor import ServerSpec, start_server
from durable_memory.dev.valkey import find_program
from durable_memory.memory.settings import Settings
from tests.integration.cli.programs import environment
from tests.integration.docs.pages import CHECKOUT
from tests.integration.redis.warnings_at_start import warnings_of
from tests.integration.telemetry.page import rows
from tests.integration.worker.workers import worker_process

PAGE = (CHECKOUT / "docs" / "first-week.md").read_text()
TEXTS = {
    kind: [dedent(text) for text in re.findall(rf"^  ```{kind}\n(.*?)^  ```$", PAGE, re.DOTALL | re.MULTILINE)]
    for kind in ("text", "yaml", "sh")
}
REDIS, SETTINGS = TEXTS["text"]
PROGRAMS = Path(sys.executable).parent


def secret(name: str) -> str:
    return f"{name}:{base64.b64encode(b'1' * 32).decode()}"


@pytest.fixture
def given(tmp_path: Path, redis_url: str, temporal_address: str) -> dict[str, str]:
    """The settings of the page, with files and servers that exist."""
    stated = dict(line.split("=", 1) for line in SETTINGS.splitlines())
    kept = {"redis-url": redis_url, "memory-keys": secret("a"), "payload-keys": secret("b"), "telemetry-key": "c"}
    for name, value in kept.items():
        (tmp_path / name).write_text(value)
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "support.yaml").write_text(TEXTS["yaml"][0])
    here = {name: str(tmp_path / Path(value).name) for name, value in stated.items() if value.startswith("/")}
    servers = {"TEMPORAL_ADDRESS": temporal_address, "TEMPORAL_NAMESPACE": "default", "OPENAI_API_KEY": "never asked"}
    path = {"PATH": f"{PROGRAMS}:/usr/bin:/bin"}
    return environment(**{**stated, **here, **servers, **path})


async def test_a_redis_with_the_settings_of_the_page_gives_no_warning(tmp_path: Path) -> None:
    (tmp_path / "redis.conf").write_text(f"{REDIS}bind 127.0.0.1\nset-proc-title no\n")
    spec = ServerSpec(
        "redis",
        lambda ports: [str(find_program()), str(tmp_path / "redis.conf"), "--port", str(ports[0]), "--dir", "."],
        port_count=1,
        ready_text="Ready to accept connections",
    )
    redis = await start_server(spec, tmp_path / "redis")
    try:
        assert await warnings_of(f"redis://127.0.0.1:{redis.ports[0]}/0") == ()
    finally:
        redis.kill()


def test_every_setting_of_the_page_is_one(given: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("DURABLE_MEMORY_", "REDIS_URL"))]:
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    stated = re.findall(r"^(?:DURABLE_MEMORY_)?(\w+?)(?:_FILE)?=", SETTINGS, re.MULTILINE)
    ours = {name.lower() for name in stated if not name.startswith("TEMPORAL_")}
    assert Settings().model_fields_set == ours


def test_every_series_of_the_page_is_measured() -> None:
    named = re.findall(r"^\| `(memory_\w+)", PAGE, re.MULTILINE)
    assert set(named) <= {row[0] for row in rows("series")}
    assert named


async def test_the_commands_do_what_the_page_says_one_after_the_other(
    tmp_path: Path, given: dict[str, str], temporal_client: Client
) -> None:
    await temporal_client.start_workflow("Agent", id="rehearsal", task_queue="nobody-polls")
    said: dict[str, str] = {}
    async with worker_process(cwd=tmp_path, **given) as worker:
        await worker.ready()
        for command in "".join(TEXTS["sh"]).splitlines():
            backups = re.findall(r"^backup +(\w+)", "\n".join(said.values()), re.MULTILINE)
            said[command] = await run(command.replace("BACKUP", "".join(backups)), tmp_path, given)

    def of(*words: str) -> list[str]:
        return [output for command, output in said.items() if all(word in command for word in words)]

    assert "Mail [redacted], card [redacted]" in of("read")[0]
    assert "1 worker polled durable-memory-support-summaries" in of("doctor")[0]
    assert re.findall(r"^(\w+) +(?:problem|warning) ", of("doctor")[0], re.MULTILINE) == []
    assert re.search("^healthy +yes", of("health")[0], re.MULTILINE)
    assert "terminated" in of("terminate")[0]
    assert re.search("^view now +1 message", of("restore")[0], re.MULTILINE)
    assert "1 memory, 1 message, 1 backup" in of("purge", "--dry-run")[0]
    assert "0 memories" in of("list")[0]
    assert (tmp_path / "support.jsonl").read_text().endswith('{"end":true,"messages":0}\n')


async def run(command: str, folder: Path, given: dict[str, str]) -> str:
    process = await asyncio.create_subprocess_exec(
        *("/bin/sh", "-c", command),
        cwd=folder,
        env=given,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, f"{command}: {errors.decode()}"
    return output.decode()
