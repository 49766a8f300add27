"""A provider's counting endpoint corrects the estimates: asked rarely, beside the appends, never trusted blindly."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from durable_memory import Message, Registry
from durable_memory.memory.memory import Memory
from durable_memory.memory.tokens.calibration import INTERVAL_SECONDS, SAMPLE_CHARACTERS, Calibration
from durable_memory.memory.tokens.counters import Counters
from durable_memory.memory.tokens.counting import Counting
from durable_memory.memory.tokens.endpoint import Endpoint, EndpointFailed
from durable_memory.memory.tokens.estimating import ScaledCounter
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from tests.integration.tokens.conftest import Connect
from tests.integration.tokens.counting_server import CountingServer, counting_server
from tests.logs import said_by

KEY = "sk-marker-5b1f"
PROBE = "The parcel left the depot for Ghent."
FILLER = "and nobody knows why it came back. "
DECLARED = """
resource: memory
id: desk
max_tokens: 50000
token_provider: {provider: PROVIDER, model: MODEL, endpoint: "URL", api_key_env: COUNTING_KEY}
persistence: PERSISTENCE
privacy_policy: {redact_patterns: ["AB-[0-9]{4}"]}
flushing: {keep_last: 0}
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[CountingServer]:
    monkeypatch.setenv("COUNTING_KEY", KEY)
    with counting_server() as serving:
        yield serving


def declared(server: CountingServer, provider: str, model: str) -> str:
    return DECLARED.replace("PROVIDER", provider).replace("MODEL", model).replace("URL", server.url)


async def opened(connect: Connect, server: CountingServer, provider: str, model: str) -> Memory:
    return (await connect(declared(server, provider, model))).memory("desk", "key")


@pytest.fixture
async def claude(connect: Connect, server: CountingServer) -> Memory:
    return await opened(connect, server, "anthropic", "claude-sonnet-4-5")


async def tokens_of(memory: Memory) -> int:
    """The tokens of a message that is appended now."""
    before = sum((await memory.stats()).tokens.values())
    return (await memory.append(PROBE)).tokens - before


async def base_of(text: str) -> int:
    return (await TiktokenCounter().count_text(text)).tokens


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - it happens in the server's thread
            await asyncio.sleep(0.005)


def outcomes(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the log says of requests that failed."""
    return [record.__dict__["outcome"] for record in said_by(caplog, Calibration.__module__)]


async def fill(memory: Memory) -> None:
    await memory.append([FILLER * 25] * 10)


@pytest.mark.parametrize(
    ("provider", "model", "path", "header"),
    [
        ("anthropic", "claude-sonnet-4-5", "/v1/messages/count_tokens", "x-api-key"),
        ("google", "gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro:countTokens", "x-goog-api-key"),
    ],
)
async def test_one_request_corrects_the_counts_that_follow(
    connect: Connect, server: CountingServer, provider: str, model: str, path: str, header: str
) -> None:
    memory = await opened(connect, server, provider, model)
    server.answer = 4_000
    estimated = await tokens_of(memory)
    await fill(memory)
    stored = (await memory.stats()).tokens
    framed = (await TiktokenCounter().count([Message.user(PROBE)]))[0].tokens
    await until(lambda: len(server.asked) == 1)
    text = server.texts()[0]
    corrected = math.ceil(framed * 4_000 / await base_of(text))
    async with asyncio.timeout(60):
        while await tokens_of(memory) != corrected:  # noqa: ASYNC110 - the answer comes in a task of its own
            await asyncio.sleep(0.005)
    assert corrected > 1.5 * estimated
    [(asked_path, headers, _)] = server.asked
    assert (asked_path, headers[header]) == (path, KEY)
    # What was stored before keeps its tokens, and what comes now is still an estimate.
    view = await memory.read()
    assert (view.messages[0].tokens, view.messages[-1].tokens_estimated) == (estimated, True)
    assert view.tokens == sum((await memory.stats()).tokens.values()) > sum(stored.values())


async def test_no_append_and_no_flush_waits_for_the_answer(claude: Memory, server: CountingServer) -> None:
    server.gate.clear()
    await fill(claude)
    await until(lambda: len(server.asked) == 1)
    async with asyncio.timeout(30):  # the server holds its answer for a minute
        for _ in range(20):
            await fill(claude)
        assert (await claude.flush(force=True)).outcome == "committed"
    assert len(server.asked) == 1


async def test_a_sample_is_bounded_and_holds_each_message_once_as_it_was_stored(
    claude: Memory, server: CountingServer
) -> None:
    messages = [f"<{number}> AB-1234 {FILLER * 5}" for number in range(60)]
    for number in range(0, 60, 5):
        for _ in range(2):  # the second is the same operation again
            await claude.append(messages[number : number + 5], operation_id=f"operation-{number}")
    await until(lambda: len(server.asked) == 1)
    [text] = server.texts()
    assert len(text) <= SAMPLE_CHARACTERS + 60
    assert [text.count(f"<{number}>") for number in range(10)] == [1] * 10
    assert "AB-1234" not in text


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        ({"status": 500}, "refused"),
        ({"status": 429, "headers": {"retry-after": "1"}}, "refused"),
        ({"status": 307, "headers": {"location": "/elsewhere"}}, "refused"),
        ({"status": 302, "headers": {"location": "/elsewhere"}}, "refused"),
        ({"answer": b"<html>"}, "wrong_answer"),
        ({"answer": {"input_tokens": "1000"}}, "wrong_answer"),
        ({"answer": {"input_tokens": True}}, "wrong_answer"),
        ({"answer": 0}, "wrong_answer"),
        ({"answer": -5}, "wrong_answer"),
        ({"answer": 10**9}, "wrong_answer"),
        ({"answer": [1]}, "wrong_answer"),
        ({"answer": b"[" * 63_000}, "wrong_answer"),
    ],
)
async def test_an_endpoint_that_fails_leaves_the_estimates_as_they_are(
    claude: Memory, server: CountingServer, caplog: pytest.LogCaptureFixture, change: dict[str, object], outcome: str
) -> None:
    for name, value in change.items():
        setattr(server, name, value)
    estimated = await tokens_of(claude)
    with caplog.at_level(logging.WARNING):
        await fill(claude)
        await until(lambda: bool(outcomes(caplog)))
    assert outcomes(caplog) == [outcome]
    assert KEY not in caplog.text
    assert await tokens_of(claude) == estimated > 0
    await fill(claude)
    assert len(server.asked) == 1  # neither followed elsewhere, nor asked again at once


async def test_a_missing_key_asks_nobody(
    claude: Memory, server: CountingServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COUNTING_KEY")
    estimated = await tokens_of(claude)
    with caplog.at_level(logging.WARNING):
        await fill(claude)
        await until(lambda: bool(outcomes(caplog)))
    assert outcomes(caplog) == ["no_key"]
    assert (await tokens_of(claude), server.asked) == (estimated, [])


async def test_slow_and_absent_endpoints_are_told_apart(server: CountingServer) -> None:
    server.gate.clear()
    slow = Endpoint("anthropic", "claude-sonnet-4-5", server.url, timeout_seconds=0.2)
    with pytest.raises(EndpointFailed, match="timeout"):
        await slow.tokens(FILLER)
    with pytest.raises(EndpointFailed, match="unreachable"):
        await Endpoint("anthropic", "claude-sonnet-4-5", "http://127.0.0.1:1").tokens(FILLER)


@pytest.mark.parametrize("sent", [b"HTTP/1.1 200 OK\r\nname: ", b"HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n"])
async def test_a_request_whose_answer_never_ends_is_cut_off(sent: bytes) -> None:
    left = asyncio.Event()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        while not reader.at_eof():
            writer.write(b"x")
            with suppress(TimeoutError):
                await asyncio.wait_for(reader.read(1000), 0.05)
        left.set()
        writer.close()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, asyncio.timeout(30):
        with pytest.raises(EndpointFailed, match="timeout"):
            await Endpoint("anthropic", "claude-sonnet-4-5", url, timeout_seconds=0.5).tokens(FILLER)
        await left.wait()


async def test_a_process_asks_again_only_after_its_interval_and_smooths_what_it_hears(server: CountingServer) -> None:
    now = [0.0]
    counter = ScaledCounter(TiktokenCounter(), 1.2)
    endpoint = Endpoint("anthropic", "claude-sonnet-4-5", server.url)
    calibration = Calibration(endpoint, counter, monotonic=lambda: now[0])
    sample = [Message.user(FILLER * 300)]

    async def heard(answer: int, at: float) -> float:
        server.answer, now[0], asked, before = answer, at, len(server.asked), counter.factor
        for _ in range(5):
            calibration.offer(sample)
        await until(lambda: len(server.asked) == asked + 1 and counter.factor != before)
        await asyncio.sleep(0)  # a request ends one turn of the loop after its answer took effect
        return counter.factor

    first = await heard(2_000, 0)
    base = await base_of(server.texts()[0])
    assert first == 2_000 / base
    now[0] = INTERVAL_SECONDS - 1
    calibration.offer(sample)
    assert len(server.asked) == 1
    assert await heard(3_000, INTERVAL_SECONDS) == pytest.approx((3_000 / base + first) / 2)
    assert await heard(base * 7, 2 * INTERVAL_SECONDS) <= 4
    await calibration.close()


async def test_closing_a_client_gives_up_a_request(connect: Connect, server: CountingServer) -> None:
    client = await connect(declared(server, "anthropic", "claude-sonnet-4-5"))
    server.gate.clear()
    await fill(client.memory("desk", "key"))
    await until(lambda: len(server.asked) == 1)
    tasks = [task for task in asyncio.all_tasks() if "_calibrate" in repr(task)]
    assert len(tasks) == 1
    await client.close()
    assert tasks[0].cancelled()


async def test_a_counting_that_is_not_declared_any_more_is_not_corrected(
    connect: Connect, server: CountingServer
) -> None:
    client = await connect(declared(server, "anthropic", "claude-sonnet-4-5"))
    memory = client.memory("desk", "key")
    server.gate.clear()
    await fill(memory)
    await until(lambda: len(server.asked) == 1)
    (asking,) = [task for task in asyncio.all_tasks() if "_calibrate" in repr(task)]
    persistence = client.registry.memory("desk").persistence.type
    client.use(
        Registry.from_resources(
            [{"resource": "memory", "id": "desk", "max_tokens": 50_000, "persistence": {"type": persistence}}]
        )
    )
    await asyncio.wait((asking,))
    assert asking.cancelled()
    await fill(memory)  # the open handle counts on


async def test_counters_can_be_given_other_declarations_while_they_are_closed(server: CountingServer) -> None:
    server.gate.clear()
    counters = Counters()
    for model in ("claude-sonnet-4-5", "claude-opus-4-5"):
        counting = Counting(factor=1.2, endpoint=Endpoint("anthropic", model, server.url))
        calibration = counters.of(counting).calibration
        assert calibration is not None
        calibration.offer([Message.user(FILLER * 300)])
    asking = [task for task in asyncio.all_tasks() if "_calibrate" in repr(task)]
    assert len(asking) == 2
    closing = asyncio.create_task(counters.close())
    await asyncio.sleep(0)  # it waits for the end of the first request
    counters.use([])
    await closing
    assert all(task.cancelled() for task in asking)


async def test_a_calibration_that_has_ended_asks_nobody(server: CountingServer) -> None:
    endpoint = Endpoint("anthropic", "claude-sonnet-4-5", server.url)
    calibration = Calibration(endpoint, ScaledCounter(TiktokenCounter(), 1.2))
    calibration.end()
    calibration.offer([Message.user(FILLER * 300)])
    assert not [task for task in asyncio.all_tasks() if "_calibrate" in repr(task)]
