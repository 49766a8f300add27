"""Under Temporal's tracing, a trace leads from the request through workflow and activity to our span."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from temporalio.contrib.opentelemetry import TracingInterceptor
from temporalio.worker import Worker

from tests.integration.cli.programs import run_command
from tests.integration.telemetry.declared import DECLARATIONS
from tests.integration.telemetry.page import PAGE
from tests.integration.telemetry.planted import KEY, MARKER, SPOKEN
from tests.integration.telemetry.repeating_summarizer import RepeatsWhatItWasTold
from tests.integration.temporal.flows.calls import AppendMany
from tests.integration.temporal.flows.endings import End
from tests.integration.temporal.flows.talks import Talk
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import running, unique

ROOT = Path(__file__).parents[3]


def section() -> str:
    """What the page says on Temporal's spans."""
    return PAGE.read_text().partition("### Beneath Temporal's spans")[2].partition("\n## ")[0]


def block(kind: str) -> str:
    """The block of this kind in it."""
    found = re.search(rf"^```{kind}\n(.*?)^```$", section(), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def tree() -> list[str]:
    """The names in the tree that it shows, from the root down."""
    return [line.strip("│└─ ") for line in block("text").splitlines()]


def way_to(span: ReadableSpan, spans: Sequence[ReadableSpan]) -> list[str]:
    """The names of a span and those above it, from the root down; all of them are of one trace."""
    by_id = {one.context.span_id: one for one in spans if one.context}
    way = [span]
    while parent := way[0].parent:
        way.insert(0, by_id[parent.span_id])
    assert len({one.context.trace_id for one in way if one.context}) == 1
    return [one.name for one in way]


async def test_the_example_of_the_page_gives_the_tree_of_the_page(
    temporal_address: str,
    redis_url: str,
    spans: InMemorySpanExporter,
    project: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "memories.yaml").write_text(yaml.safe_dump_all(DECLARATIONS))
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("DURABLE_MEMORY_MEMORIES", str(tmp_path))
    monkeypatch.setenv("DURABLE_MEMORY_PROJECT", project)
    monkeypatch.setenv("DURABLE_MEMORY_TASK_QUEUE", f"flushes-of-{project}")
    example: dict[str, Any] = {}
    exec(block("python"), example)
    client = await example["connect"](temporal_address)
    async with Worker(client, task_queue=project, workflows=[AppendMany]):
        await client.execute_workflow(AppendMany.run, args=["ring", ["k"], ["Hello"]], id=project, task_queue=project)
    finished = spans.get_finished_spans()
    [ours] = [span for span in finished if span.name == "create_memory"]
    assert way_to(ours, finished) == tree()


async def test_calls_in_an_activity_of_the_user_and_the_flusher_belong_to_the_request(
    temporal_address: str, redis_url: str, spans: InMemorySpanExporter
) -> None:
    async with running(temporal_address, redis_url, interceptors=[TracingInterceptor()]) as rig:
        with trace.get_tracer("test").start_as_current_span("request"):
            await rig.run(Talk.run, "k", "Where is it?")
            await rig.run(AppendMany.run, "patient", ["k"], ["What is said here wakes the flusher. " * 12] * 4)
        await rig.flusher(rig.memory("patient", "k")).result()
    finished = spans.get_finished_spans()
    activity = ["request", "StartWorkflow:Talk", "StartActivity:model_turn", "RunActivity:model_turn"]
    [turn, *_] = [way_to(span, finished) for span in finished if span.name in ("create_memory", "search_memory")]
    assert turn == [*activity, "search_memory"]
    [summarize] = [span for span in finished if span.name == "RunActivity:memory.flush.summarize"]
    assert way_to(summarize, finished) == [
        "request",
        "StartWorkflow:AppendMany",
        "StartActivity:memory.append",
        "RunActivity:memory.append",
        "create_memory",
        "SignalWithStartWorkflow:memory-flush",
        "StartActivity:memory.flush.summarize",
        "RunActivity:memory.flush.summarize",
    ]


async def test_temporals_spans_of_our_activities_hold_nothing_private(
    temporal_address: str, redis_url: str, spans: InMemorySpanExporter
) -> None:
    summarizer = RepeatsWhatItWasTold()
    async with running(temporal_address, redis_url, summarizer=summarizer, interceptors=[TracingInterceptor()]) as rig:
        memory = rig.memory("patient", KEY)
        await memory.append([SPOKEN] * 40)
        await rig.run(End.run, "patient", KEY, "complete")

        async def failed() -> bool:
            return any(span.name == "RunActivity:memory.flush.summarize" for span in spans.get_finished_spans())

        await eventually(failed)
        await rig.flusher(memory).terminate()
    told = "\n".join(span.to_json() for span in spans.get_finished_spans())
    assert "RuntimeError" in told
    assert MARKER not in told


async def test_temporals_plugin_gives_the_same_tree_before_ours_and_after_it(
    temporal_address: str, redis_url: str
) -> None:
    ended = await run_command(
        sys.executable,
        "-m",
        "tests.integration.telemetry.traced",
        cwd=ROOT,
        REDIS_URL=redis_url,
        TEMPORAL_ADDRESS=temporal_address,
        DURABLE_MEMORY_PROJECT=unique("project"),
    )
    assert ended.code == 0, ended.err
    names = ["request", *tree()]
    names.insert(2, "RunWorkflow:AppendMany")
    for parents in ended.json():
        assert [parents[name] for name in names] == [None, *names[:-1]]
