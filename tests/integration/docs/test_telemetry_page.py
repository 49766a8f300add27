"""The files of docs/telemetry.md, run as they stand in a program of one's own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from durable_memory.memory.telemetry import SECONDS_BUCKETS
from tests.integration.docs.pages import files_of
from tests.integration.telemetry.page import rows
from tests.ports import quiet_ports

DURATIONS = [name for name, *_ in rows("series") if name.endswith("_seconds")]

SCRAPED = """
import asyncio
import sys
import urllib.request
from durable_memory import MemoryClient, Registry
from scraped import serve_metrics

REGISTRY = Registry.from_resources(
    [{"resource": "memory", "id": "notes", "max_tokens": 1000, "persistence": {"type": "in_memory"}}]
)

async def main():
    port = int(sys.argv[1])
    serve_metrics(port)
    async with await MemoryClient.connect(memories=REGISTRY) as client:
        memory = client.memory("notes", "k")
        await memory.append(["Hello", "Is anybody there?", "Good-bye"])
        await memory.flush(force=True)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        print(answer.read().decode())

asyncio.run(main())
"""


LOGGED = """
import asyncio
from durable_memory import MemoryClient, Registry
from logged import log_as_a_worker

REGISTRY = Registry.from_resources(
    [{"resource": "memory", "id": "notes", "max_tokens": 1000, "persistence": {"type": "in_memory"}}]
)

async def main():
    log_as_a_worker()
    async with await MemoryClient.connect(memories=REGISTRY) as client:
        memory = client.memory("notes", "k")
        await memory.append(["Hello, my order is A-17.", "Is anybody there?", "Good-bye"])
        await memory.flush(force=True)

asyncio.run(main())
"""


async def run(folder: Path, program: str, *arguments: str) -> tuple[str, str]:
    """Runs a program beside the files of the page; returns what it prints, and what it logs."""
    for name, text in files_of("docs/telemetry.md").items():
        (folder / name).write_text(text)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, *arguments),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return output.decode(), errors.decode()


@pytest.fixture(scope="module")
async def scraped(tmp_path_factory: pytest.TempPathFactory) -> str:
    (port,) = quiet_ports(1)
    return (await run(tmp_path_factory.mktemp("scraped"), SCRAPED, str(port)))[0]


@pytest.mark.parametrize("series", DURATIONS)
def test_a_worker_of_ones_own_has_the_buckets_of_the_page(scraped: str, series: str) -> None:
    bounds = [
        sample.labels["le"]
        for family in text_string_to_metric_families(scraped)
        for sample in family.samples
        if sample.name == f"{series}_bucket"
    ]
    assert list(dict.fromkeys(bounds)) == [*map(str, SECONDS_BUCKETS), "+Inf"]


async def test_a_program_of_ones_own_writes_the_lines_of_a_worker(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (await run(tmp_path, LOGGED))[1].splitlines()]
    [summary] = [line for line in lines if line["message"] == "a summary was written for notes"]
    assert (summary["level"], summary["resource"], summary["summarizer"]) == ("info", "notes", "rule_based")
    assert len(summary["memory_hash"]) > 8
