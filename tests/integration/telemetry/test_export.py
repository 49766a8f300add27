"""A worker sends its spans where the environment says, and says in one sentence why it cannot."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from temporalio.client import Client

from tests.integration.cli.programs import run_command, run_program
from tests.integration.telemetry.collector import collecting
from tests.integration.telemetry.conftest import StartWorker
from tests.integration.worker.calling import calling

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}


async def test_a_worker_sends_its_spans_to_a_collector_also_the_last(
    start_worker: StartWorker, temporal_client: Client, project: str
) -> None:
    with collecting() as collector:
        given = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "support"}
        async with start_worker(**given) as worker, calling(temporal_client, project) as caller:
            await worker.ready()
            await caller.append("thread", "k", "Hello")
            assert await worker.end(signal.SIGTERM) == 0
        assert [span.name for span in collector.spans()] == ["create_memory"]
        assert collector.services() == {"support"}


async def test_a_collector_that_is_gone_keeps_no_worker_from_its_work(
    start_worker: StartWorker, temporal_client: Client, project: str
) -> None:
    given = {**ENDPOINT, "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    async with start_worker(**given) as worker, calling(temporal_client, project) as caller:
        await worker.ready()
        assert (await caller.append("thread", "k", "Hello"))["messages"] == 1
        assert await worker.end(signal.SIGTERM) == 0


async def test_another_protocol_is_refused(folder: Path) -> None:
    ended = await run_program("worker", cwd=folder, OTEL_EXPORTER_OTLP_PROTOCOL="grpc", **ENDPOINT)
    assert ended.code == 1
    assert "OTEL_EXPORTER_OTLP_PROTOCOL" in ended.err
    assert "http/protobuf" in ended.err


async def test_a_missing_exporter_is_a_sentence_that_names_the_extra(folder: Path) -> None:
    program = (
        "import sys; sys.modules['opentelemetry.exporter.otlp'] = None\n"
        "from durable_memory.cli import main; main(['worker'])"
    )
    ended = await run_command(sys.executable, "-c", program, cwd=folder, **ENDPOINT)
    assert ended.code == 1
    assert "pip install 'durable-memory[otlp]'" in ended.err
    assert "Traceback" not in ended.err
