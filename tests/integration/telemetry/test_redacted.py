"""What a resource keeps out is in no answer, log, span or label either; only what a workflow itself passed stands."""

from __future__ import annotations

import logging

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory import MemoryPlugin
from durable_memory.memory.spans import CAPTURE_CONTENT
from durable_memory.worker.metrics import WorkerMetrics
from tests.integration.privacy.conftest import REGISTRY
from tests.integration.privacy.flows import Tell
from tests.integration.temporal.rig import unique

SECRET = "marley4711@example.com"
TOLD = "I am [redacted], order 4711."


async def test_only_the_words_of_the_workflow_itself_stand_in_its_history(
    temporal_address: str,
    redis_url: str,
    spans: InMemorySpanExporter,
    metrics: WorkerMetrics,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(CAPTURE_CONTENT, "true")
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.DEBUG, "durable_memory")
    plugin = MemoryPlugin(redis_url=redis_url, memories=REGISTRY, project=unique("project"), companion=False)
    client = await Client.connect(temporal_address, plugins=[plugin])
    queue = unique("queue")
    async with Worker(client, task_queue=queue, workflows=[Tell]):
        handle = await client.start_workflow(
            Tell.run, args=[unique("key"), f"I am {SECRET}, order 4711."], id=unique("tell"), task_queue=queue
        )
        assert await handle.result() == [TOLD, TOLD]
    told = []
    async for event in handle.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            event.workflow_execution_started_event_attributes.ClearField("input")
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            event.activity_task_scheduled_event_attributes.ClearField("input")
        told.append(str(event))
    told += [span.to_json() for span in spans.get_finished_spans()]
    everything = "\n".join([*told, caplog.text, metrics.text().decode()])
    assert TOLD in everything  # what was asked for: messages in spans, and the answer in the history
    assert 'memory_redactions_total{kind="email",resource="private"' in everything
    assert "marley4711" not in everything
