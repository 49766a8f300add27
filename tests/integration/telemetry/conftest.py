"""The SDK of OpenTelemetry in this process, and memories that are watched through it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from temporalio.client import Client

from durable_memory import Memory, MemoryClient
from durable_memory.memory.spans import ASK_AGAIN_SECONDS
from durable_memory.worker.metrics import WorkerMetrics, install_metrics
from tests.integration.telemetry.declared import REGISTRY
from tests.integration.telemetry.story import Sample, play, samples
from tests.integration.worker.starting import StartWorker, folder, own_valkey, start_worker

__all__ = ["StartWorker", "folder", "own_valkey", "start_worker"]


@pytest.fixture(scope="session")
async def exporter() -> InMemorySpanExporter:
    """Holds the spans of this process; a provider can be set only once in it."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    await asyncio.sleep(ASK_AGAIN_SECONDS)  # calls before this may have found none
    return exporter


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[InMemorySpanExporter]:
    """The same, empty."""
    exporter.clear()
    yield exporter
    exporter.clear()


@pytest.fixture(scope="session")
def metrics() -> WorkerMetrics:
    """What this process measures; as with spans, once."""
    return install_metrics()


@pytest.fixture(scope="session")
async def told(metrics: WorkerMetrics, redis_url: str, temporal_client: Client) -> tuple[list[Sample], list[Sample]]:
    """What was measured before the story and after it."""
    project = f"series-{uuid.uuid4().hex[:12]}"
    async with await MemoryClient.connect(redis_url, memories=REGISTRY, project=project) as client:
        before = samples(metrics)
        await play(client, redis_url, temporal_client)
        return before, samples(metrics)


@pytest.fixture(scope="session")
async def client(redis_url: str) -> AsyncIterator[MemoryClient]:
    """A client of a project of its own."""
    project = f"telemetry-{uuid.uuid4().hex[:12]}"
    async with await MemoryClient.connect(redis_url, memories=REGISTRY, project=project) as client:
        yield client


@pytest.fixture
def memory(client: MemoryClient) -> Memory:
    """A fresh memory, whose key must show nowhere."""
    return client.memory("small", f"private-{uuid.uuid4().hex}")


@pytest.fixture
def project() -> str:
    return f"telemetry-{uuid.uuid4().hex[:12]}"
