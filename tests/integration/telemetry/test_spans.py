"""Each call of a memory is one span, which tells how it ended and nothing private."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from durable_memory import Memory, MemoryClient, Message
from durable_memory.dev import Valkey
from durable_memory.memory.errors import MemoryFault, MemoryUnavailable
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.operation_names import OperationName
from durable_memory.memory.spans import ATTRIBUTES, CAPTURE_CONTENT, OPERATION_NAMES
from tests.integration.telemetry.declared import REGISTRY

Call = Callable[[Memory], Awaitable[object]]


CALLS: dict[OperationName, Call] = {
    "append": lambda memory: memory.append("Where is it?"),
    "record_turn": lambda memory: memory.record_turn(["Where is it?", Message.assistant("In Lyon.")]),
    "write": lambda memory: memory.write("A new start."),
    "recorded_turn": lambda memory: memory.recorded_turn(operation_id="turn"),
    "touch": lambda memory: memory.touch(["0123456789abcdef-1-0000"]),
    "pin": lambda memory: memory.pin(["0123456789abcdef-1-0000"]),
    "unpin": lambda memory: memory.unpin(["0123456789abcdef-1-0000"]),
    "flush": lambda memory: memory.flush(force=True),
    "delete": lambda memory: memory.delete(["0123456789abcdef-1-0000"]),
    "clear": lambda memory: memory.clear(confirm=True),
    "read": lambda memory: memory.read(),
    "stats": lambda memory: memory.stats(),
    "health": lambda memory: memory.health(),
}
"""A good call of every method that needs nothing before it."""


async def _twice_with_other_words(memory: Memory) -> None:
    await memory.append("one", operation_id="same")
    await memory.append("two", operation_id="same")


FAILURES: dict[str, tuple[str, str, Call]] = {
    "too large": ("append", "MemoryOversize", lambda memory: memory.append("word " * 2_000)),
    "no message": ("append", "MemoryInvalid", lambda memory: memory.append([])),
    "no call": ("record_turn", "MemoryOrphanResult", lambda memory: memory.record_turn(Message.tool("c-1", "42"))),
    "other version": ("write", "MemoryConflict", lambda memory: memory.write("new", if_version="0123456789abcdef:1:0")),
    "used id": ("append", "MemoryOperationConflict", _twice_with_other_words),
    "no limit": ("read", "MemoryInvalid", lambda memory: memory.read(limit=-1)),
    "unconfirmed": ("clear", "MemoryInvalid", lambda memory: memory.clear(confirm=False)),
}


class _Fails:
    max_input_tokens: int | None = None

    async def summarize(self, request: SummaryRequest) -> str:
        """Repeats in its error what was said, as clients of models do."""
        raise RuntimeError(request.messages[0].text)


def only(spans: InMemorySpanExporter) -> ReadableSpan:
    """The one span that there is; none holds an event, a text of an error, or an attribute of another name."""
    (span,) = spans.get_finished_spans()
    assert span.kind is SpanKind.CLIENT
    assert span.events == ()
    assert span.status.description is None
    assert set(span.attributes or ()) <= set(ATTRIBUTES)
    return span


def attribute(span: ReadableSpan, name: str) -> object:
    """An attribute of a span, or None."""
    return (span.attributes or {}).get(name)


def check_good(spans: InMemorySpanExporter, method: OperationName) -> None:
    """Checks the one span of a call that went well."""
    span = only(spans)
    assert span.name == attribute(span, "gen_ai.operation.name") == OPERATION_NAMES[method]
    assert attribute(span, "durable_memory.operation") == method
    assert attribute(span, "gen_ai.memory.store.id") == "small"
    assert span.status.status_code is StatusCode.UNSET
    assert attribute(span, "error.type") is None
    assert "private-" not in span.to_json()


def test_every_method_has_a_call() -> None:
    assert {*CALLS, "restore", "purge"} == set(OPERATION_NAMES)


@pytest.mark.parametrize("method", CALLS)
async def test_a_call_is_one_span(memory: Memory, spans: InMemorySpanExporter, method: OperationName) -> None:
    await CALLS[method](memory)
    check_good(spans, method)


async def test_a_restore_is_one_span(memory: Memory, spans: InMemorySpanExporter) -> None:
    await memory.append("one")
    cleared = await memory.clear(confirm=True, backup=True)
    spans.clear()
    await memory.restore(str(cleared.backup_id))
    check_good(spans, "restore")


async def test_a_purge_is_one_span_for_each_memory(
    client: MemoryClient, memory: Memory, spans: InMemorySpanExporter
) -> None:
    await memory.append("one")
    spans.clear()
    await client.purge("small", prefix=memory.id.key, dry_run=False, confirm=True)
    check_good(spans, "purge")


@pytest.mark.parametrize("failure", FAILURES)
async def test_a_call_that_fails_is_a_span_with_its_error(
    memory: Memory, spans: InMemorySpanExporter, failure: str
) -> None:
    method, error, call = FAILURES[failure]
    with pytest.raises(MemoryFault) as caught:
        await call(memory)
    assert caught.value.type == error
    *before, _ = spans.get_finished_spans()
    assert all(span.status.status_code is StatusCode.UNSET for span in before)
    span = spans.get_finished_spans()[-1]
    assert (attribute(span, "durable_memory.operation"), attribute(span, "error.type")) == (method, error)
    assert span.status.status_code is StatusCode.ERROR
    assert (span.status.description, span.events) == (None, ())


async def test_the_words_of_a_failing_summariser_are_not_in_its_span(
    redis_url: str, client: MemoryClient, spans: InMemorySpanExporter
) -> None:
    async with await MemoryClient.connect(
        redis_url, memories=REGISTRY, project=client.project, summarizer=_Fails()
    ) as failing:
        memory = failing.memory("small", "words")
        await memory.append(["a secret of marley"] * 4)
        spans.clear()
        with pytest.raises(RuntimeError, match="marley"):
            await memory.flush(force=True)
    assert attribute(only(spans), "error.type") == "RuntimeError"
    assert "marley" not in only(spans).to_json()


async def test_an_unreachable_redis_is_a_span_with_an_error(spans: InMemorySpanExporter, own_valkey: Valkey) -> None:
    async with await MemoryClient.connect(own_valkey.url, memories=REGISTRY) as client:
        own_valkey.server.kill()
        with pytest.raises(MemoryUnavailable):
            await client.memory("small", "k").read()
    assert attribute(only(spans), "error.type") == "MemoryUnavailable"
    assert only(spans).status.status_code is StatusCode.ERROR


async def test_a_cancelled_call_is_a_span_that_says_so(
    redis_url: str, client: MemoryClient, spans: InMemorySpanExporter
) -> None:
    class Waits:
        max_input_tokens: int | None = None
        asked = asyncio.Event()

        async def summarize(self, request: SummaryRequest) -> str:
            self.asked.set()
            await asyncio.Event().wait()
            return request.messages[0].text

    async with await MemoryClient.connect(
        redis_url, memories=REGISTRY, project=client.project, summarizer=Waits()
    ) as waiting:
        memory = waiting.memory("small", "cancelled")
        await memory.append(["Hello"] * 4)
        spans.clear()
        flushing = asyncio.create_task(memory.flush(force=True))
        await Waits.asked.wait()
        flushing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await flushing
    assert attribute(only(spans), "error.type") == "CancelledError"


async def test_messages_are_counted_and_shown_only_on_demand(
    memory: Memory, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.append(["Where is it?", "And when?"])
    assert attribute(only(spans), "gen_ai.memory.record.count") == 2
    assert attribute(only(spans), "gen_ai.memory.records") is None
    monkeypatch.setenv(CAPTURE_CONTENT, "true")
    for call in (memory.read, lambda: memory.append(["Where is it?", "And when?"])):
        spans.clear()
        await call()
        shown = json.loads(str(attribute(only(spans), "gen_ai.memory.records")))
        assert [message["content"] for message in shown] == ["Where is it?", "And when?"]


async def test_memories_are_told_apart_by_a_hash_under_a_secret(
    redis_url: str, client: MemoryClient, spans: InMemorySpanExporter
) -> None:
    async def hash_of(key: str) -> object:
        spans.clear()
        await client.memory("small", key).stats()
        return attribute(only(spans), "durable_memory.memory.hash")

    async def hash_under(secret: str) -> object:
        async with await MemoryClient.connect(redis_url, memories=REGISTRY, telemetry_key=secret):
            return await hash_of("a")

    assert await hash_of("a") == await hash_of("a") != await hash_of("b")
    of_process = await hash_of("a")
    of_project = await hash_under("the secret of the project")
    assert of_project not in (of_process, None)
    assert await hash_under("another secret") not in (of_process, of_project)
    assert await hash_under("the secret of the project") == of_project


async def test_calls_at_the_same_time_are_spans_beside_each_other(memory: Memory, spans: InMemorySpanExporter) -> None:
    await asyncio.gather(*(memory.append("Hello") for _ in range(5)))
    finished = spans.get_finished_spans()
    assert [span.parent for span in finished] == [None] * 5
    assert len({span.context.trace_id for span in finished if span.context}) == 5


def test_the_core_needs_no_sdk() -> None:
    program = """
import asyncio, sys
from durable_memory import MemoryClient, Registry

declared = {"resource": "memory", "id": "m", "max_tokens": 1000, "persistence": {"type": "in_memory"}}

async def main():
    async with await MemoryClient.connect(memories=Registry.from_resources([declared])) as client:
        await client.memory("m", "k").append("Hello")
        assert (await client.memory("m", "k").read()).messages[0].text == "Hello"

asyncio.run(main())
print([name for name in sys.modules if name.startswith("opentelemetry.sdk")])
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
