"""/metrics moves with what callers in other programs do."""

from __future__ import annotations

import re

from prometheus_client.parser import text_string_to_metric_families
from temporalio.client import Client

from durable_memory.memory.telemetry import SECONDS_BUCKETS
from tests.integration.worker.calling import calling
from tests.integration.worker.conftest import StartWorker
from tests.integration.worker.workers import WorkerProcess, eventually


async def total(worker: WorkerProcess, name: str, **labels: str) -> float:
    """The sum of the samples of this name that carry these labels."""
    families = text_string_to_metric_families((await worker.get("/metrics"))[1])
    return sum(
        sample.value
        for family in families
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


async def buckets(worker: WorkerProcess, name: str) -> list[str]:
    """The upper bounds of a histogram's buckets, in order."""
    text = (await worker.get("/metrics"))[1]
    return list(dict.fromkeys(re.findall(rf'^{name}_bucket{{le="([^"]+)"', text, re.MULTILINE)))


async def test_operations_evictions_and_flushes_are_counted(
    start_worker: StartWorker, temporal_client: Client, project: str
) -> None:
    async with start_worker() as worker, calling(temporal_client, project) as caller:
        await worker.ready()
        await caller.append("notes", "secret-key", *(f"Note {number}" for number in range(9)))
        await caller.append("thread", "secret-key", "Hello")
        operations = {"resource": "notes", "operation": "append"}
        assert await total(worker, "memory_operations_total", outcome="ok", **operations) == 1
        assert await total(worker, "memory_operation_duration_seconds_count", **operations) == 1
        assert await buckets(worker, "memory_operation_duration_seconds") == [*map(str, SECONDS_BUCKETS), "+Inf"]
        assert (SECONDS_BUCKETS[0], SECONDS_BUCKETS[-1]) == (0.0005, 60)
        assert await total(worker, "memory_evictions_total", policy="fifo", reason="dropped") == 4

        # Over its budget: the append wakes the flusher, which runs on this worker.
        result = await caller.append(
            "thread", "k", *("A sentence of about ten tokens, more or less." for _ in range(60))
        )
        assert result["flush_due"]
        assert await total(worker, "memory_evictions_total", resource="thread", reason="overflow") == result["evicted"]
        flushed = {"resource": "thread", "strategy": "hybrid_summary", "outcome": "committed"}
        await eventually(lambda: total(worker, "memory_flush_total", **flushed))
        assert await total(worker, "memory_flush_duration_seconds_count", resource="thread") > 0
        assert "secret-key" not in (await worker.get("/metrics"))[1]


async def test_what_temporal_measures_is_in_the_same_answer(
    start_worker: StartWorker, temporal_client: Client, project: str
) -> None:
    async with start_worker() as worker, calling(temporal_client, project) as caller:
        await worker.ready()
        await caller.append("thread", "k", "Hello")
        executions = {"activity_type": "memory.append", "le": "60.0"}
        await eventually(lambda: total(worker, "temporal_activity_execution_latency_seconds_bucket", **executions))
