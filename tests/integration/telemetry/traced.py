"""A program that traces a turn with Temporal's plugin beside ours and prints its spans: a provider is set only once."""

from __future__ import annotations

import asyncio
import json
import os
import sys

from opentelemetry import trace
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from temporalio.client import Client
from temporalio.contrib.opentelemetry import OpenTelemetryPlugin, create_tracer_provider
from temporalio.worker import Worker

from durable_memory import MemoryPlugin
from durable_memory.exit import leave
from tests.integration.telemetry.declared import REGISTRY
from tests.integration.temporal.flows.calls import AppendMany


async def main() -> None:
    """Runs a workflow under the plugins in either order; prints the name of each span with that of its parent."""
    exporter = InMemorySpanExporter()
    provider = create_tracer_provider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    project = os.environ["DURABLE_MEMORY_PROJECT"]
    told = []
    for order in (1, -1):
        plugins = [OpenTelemetryPlugin(add_temporal_spans=True), MemoryPlugin(memories=REGISTRY, companion=False)]
        client = await Client.connect(os.environ["TEMPORAL_ADDRESS"], plugins=plugins[::order])
        exporter.clear()
        async with Worker(client, task_queue=project, workflows=[AppendMany]):
            with trace.get_tracer("test").start_as_current_span("request"):
                await client.execute_workflow(
                    AppendMany.run, args=["ring", ["k"], ["Hello"]], id=project, task_queue=project
                )
        spans = exporter.get_finished_spans()
        names = {span.context.span_id: span.name for span in spans if span.context}
        told.append({span.name: names.get(span.parent.span_id) if span.parent else None for span in spans})
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main())
    leave(0)
