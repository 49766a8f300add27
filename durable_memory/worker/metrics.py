"""The metrics of a worker: one registry for what the core, the activities and Temporal's core measure."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from opentelemetry import metrics
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import Histogram, MeterProvider
from opentelemetry.sdk.metrics.view import ExplicitBucketHistogramAggregation, View
from opentelemetry.sdk.resources import Resource
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from temporalio.contrib.opentelemetry import MetricsExporter
from temporalio.runtime import MetricBuffer, MetricBufferDurationFormat

from durable_memory.memory.telemetry import SECONDS_BUCKETS

CONTENT_TYPE = CONTENT_TYPE_LATEST
_BUFFERED = 10_000


class WorkerMetrics:
    """Everything that this process measures, in Prometheus' text form."""

    def __init__(self, registry: CollectorRegistry, provider: MeterProvider) -> None:
        self._registry = registry
        self._provider = provider
        self.buffer = MetricBuffer(_BUFFERED, MetricBufferDurationFormat.SECONDS)
        """Where the Temporal runtime puts its metrics."""

    def text(self) -> bytes:
        """Returns what /metrics answers, in the form that CONTENT_TYPE names."""
        return generate_latest(self._registry)

    @asynccontextmanager
    async def collecting(self) -> AsyncIterator[None]:
        """Takes over what Temporal's core measures, as long as the context is open. The runtime must exist."""
        async with MetricsExporter(self.buffer, self._provider):
            yield


def install_metrics() -> WorkerMetrics:
    """Makes this process measure. Called once, by a worker; without it, measuring costs next to nothing."""
    registry = CollectorRegistry()
    reader = PrometheusMetricReader(disable_target_info=True, scope_info_enabled=False, registry=registry)
    # Temporal's exporter advises none.
    durations = View(
        instrument_type=Histogram,
        instrument_unit="s",
        meter_name="temporalio",
        aggregation=ExplicitBucketHistogramAggregation(SECONDS_BUCKETS),
    )
    provider = MeterProvider(
        metric_readers=[reader], views=[durations], resource=Resource.get_empty(), shutdown_on_exit=False
    )
    metrics.set_meter_provider(provider)
    return WorkerMetrics(registry, provider)
