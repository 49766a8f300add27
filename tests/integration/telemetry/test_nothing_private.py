"""What users say, the keys of their memories and passwords are in no log, label, span, failure or workflow id."""

from __future__ import annotations

import asyncio
import logging
import signal
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from redis.asyncio import Redis
from temporalio.client import Client, WorkflowHandle

from durable_memory.activities import wire
from durable_memory.activities.waker import flusher_id
from durable_memory.dev import Valkey
from durable_memory.memory.identity import MemoryId
from tests.integration.cli.programs import run_program
from tests.integration.telemetry.collector import collecting
from tests.integration.telemetry.conftest import StartWorker
from tests.integration.telemetry.planted import BAD, GOOD, KEY, MARKER, PLACE, SPOKEN, history_without_input
from tests.integration.telemetry.repeating_summarizer import RepeatsWhatItWasTold
from tests.integration.temporal.flows.endings import End
from tests.integration.temporal.observing import eventually, fault_of
from tests.integration.temporal.rig import running
from tests.integration.worker.calling import Caller, calling


@pytest.fixture
async def guarded(own_valkey: Valkey) -> str:
    """The address of a Redis whose password is the marker."""
    async with Redis.from_url(own_valkey.url) as redis:
        await redis.config_set("requirepass", MARKER)
    return own_valkey.url.replace("//", f"//:{MARKER}@")


def clean(told: dict[str, str]) -> None:
    """None of these texts holds the marker, and each says something."""
    assert [place for place, text in told.items() if not text] == []
    assert [place for place, text in told.items() if MARKER in text] == []


async def last_failure(handle: WorkflowHandle[Any, Any]) -> str:
    """What the server keeps of an activity's attempt that failed and will be repeated."""
    pending = (await handle.describe()).raw_description.pending_activities
    return str(pending[0].last_failure) if pending and pending[0].HasField("last_failure") else ""


async def make_calls(caller: Caller) -> dict[str, str]:
    """Makes good and bad calls; returns their histories by a name."""
    told = {}
    for number, (activity, request) in enumerate(GOOD):
        handle = await caller.start(activity, {"memory": PLACE, **request})
        await handle.result()
        told[f"{number} {activity}"] = await history_without_input(handle)
    for number, (activity, error, request) in enumerate(BAD):
        handle = await caller.start(activity, {"memory": PLACE, **request})
        fault = await fault_of(handle.result())
        assert fault.type == error, (number, fault)
        told[f"bad {number} {activity}"] = f"{fault}\n{await history_without_input(handle)}"
    return told


async def test_nothing_private_leaves_a_worker(
    start_worker: StartWorker, temporal_client: Client, project: str, guarded: str, own_valkey: Valkey
) -> None:
    with collecting() as collector:
        given = {"REDIS_URL": guarded, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        async with (
            start_worker("--log-level", "debug", **given) as worker,
            calling(temporal_client, project) as caller,
        ):
            await worker.ready()
            told = await make_calls(caller)
            flusher = temporal_client.get_workflow_handle(flusher_id(MemoryId(project, "thread", KEY)))
            await flusher.result()
            told["flusher"] = await history_without_input(flusher)
            shown = await caller.call(wire.READ, {"memory": PLACE})
            assert MARKER in str(shown)  # it was planted

            told["metrics"] = (await worker.get("/metrics"))[1]
            own_valkey.server.kill()
            unanswered = await caller.start(wire.APPEND, {"memory": PLACE, "messages": [SPOKEN]})
            told["Redis gone"] = await eventually(lambda: last_failure(unanswered))
            assert "MemoryUnavailable" in told["Redis gone"]
            await unanswered.terminate()
            told["probe"] = (await worker.get("/readyz"))[1]
            assert await worker.end(signal.SIGTERM) == 0
            told["log"] = worker.log_text()
        told["spans"] = collector.text()
    assert {span.name for span in collector.spans()} == {
        "create_memory",
        "update_memory",
        "delete_memory",
        "search_memory",
    }
    assert "MemoryOversize" in told["log"]
    clean(told)


async def test_the_words_of_a_failing_summariser_stay_out_of_histories_spans_and_logs(
    temporal_address: str,
    redis_url: str,
    spans: InMemorySpanExporter,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.DEBUG, "durable_memory")
    summarizer = RepeatsWhatItWasTold()
    async with running(temporal_address, redis_url, summarizer=summarizer) as rig:
        memory = rig.memory("patient", KEY)
        await memory.append([SPOKEN] * 40)
        handle = await rig.start(End.run, "patient", KEY, "complete", id="ends-well")
        await handle.result()
        flusher = rig.flusher(memory)
        failure = await eventually(lambda: last_failure(flusher))
        assert "RuntimeError" in failure
        assert "in summarize" in failure
        await flusher.terminate()
        told = {"failure": failure, "history": await history_without_input(flusher)}
    told["spans"] = "\n".join(span.to_json() for span in spans.get_finished_spans())
    told["log"] = caplog.text
    clean(told)


async def test_what_is_cleaned_up_at_the_end_of_a_workflow_is_not_told(
    temporal_address: str, redis_url: str, spans: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.DEBUG, "durable_memory")
    async with running(temporal_address, redis_url) as rig:
        told = {}
        for resource, how in (("cleared", "complete"), ("flushed", "complete"), ("scratch", "fail for good")):
            handle = await rig.start(End.run, resource, KEY, how)
            await asyncio.gather(handle.result(), return_exceptions=True)
            told[resource] = await history_without_input(handle)
            assert wire.CLEANUP in told[resource]
    told["spans"] = "\n".join(span.to_json() for span in spans.get_finished_spans())
    clean(told)
    assert MARKER not in caplog.text


@pytest.mark.parametrize(
    "arguments",
    [
        ("append", "thread", KEY, f"{MARKER} " * 900),
        ("append", "thread", f" {MARKER}", "Hello"),
        ("append", "thread", KEY, "--json", "-"),
        ("append", "thread", KEY, "Hello", "--operation-id", MARKER * 101),
        ("read", "thread", KEY, "--redis-url", f"redis://:{MARKER}@127.0.0.1:1/0"),
        ("read", "thread", KEY, "--redis-url", f"redis://:{MARKER}@127.0.0.1:none/0"),
        ("read", "thread", KEY, "--redis-url", f"http://:{MARKER}@127.0.0.1/0"),
        ("clear", "thread", KEY),
    ],
    ids=range(8),
)
async def test_commands_that_fail_say_nothing_private(folder: Path, guarded: str, arguments: tuple[str, ...]) -> None:
    planted = f'[{{"role": "user", "contnet": "{MARKER}"}}]'
    ended = await run_program(*arguments, cwd=folder, stdin=planted, REDIS_URL=guarded)
    assert ended.code != 0
    clean({"errors": ended.err})


async def test_a_wrong_password_is_not_told(folder: Path, own_valkey: Valkey) -> None:
    address = own_valkey.url.replace("//", f"//someone:{MARKER}@")
    ended = await run_program("read", "thread", "k", cwd=folder, REDIS_URL=address)
    assert (ended.code, ended.out) == (1, "")
    clean({"errors": ended.err})
