"""The spans of a worker: sent to a collector by OTLP over HTTP, if the environment names one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from durable_memory.memory.errors import MemoryInvalid

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_SPOKEN = "http/protobuf"


@contextmanager
def exporting_spans(environment: Mapping[str, str]) -> Iterator[None]:
    """Sends the spans of this process as long as the context is open, if OTEL_EXPORTER_OTLP_ENDPOINT is set.

    OTEL_SERVICE_NAME and the other variables of OpenTelemetry are the SDK's to read. Raises MemoryInvalid if the
    exporter is not installed, or another protocol is asked for.
    """
    if not any(map(environment.get, _ENDPOINTS)):
        yield
        return
    resource = Resource({SERVICE_NAME: "durable-memory"}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(_exporter(environment)))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()  # sends what waits


def _exporter(environment: Mapping[str, str]) -> SpanExporter:
    for name in _PROTOCOLS:
        protocol = environment.get(name) or _SPOKEN
        if protocol != _SPOKEN:
            raise MemoryInvalid(f"{name}: a worker sends its spans by {_SPOKEN}, not by {protocol!r}")
    try:
        # The extra is needed only here.
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - loaded where it is used
    except ImportError:
        raise MemoryInvalid(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the exporter is not installed: pip install 'durable-memory[otlp]'"
        ) from None
    return OTLPSpanExporter()
