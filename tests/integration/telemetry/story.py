"""What has to happen to memories so that every series moves: on a real Redis and a real Temporal."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from prometheus_client.parser import text_string_to_metric_families
from redis.asyncio import Redis
from temporalio.client import Client

from durable_memory import MemoryClient
from durable_memory.activities.runs import TemporalRuns
from durable_memory.activities.waker import TemporalWaker
from durable_memory.audit_log import keep_audit_log
from durable_memory.memory.declarations.summarizer import SummarizerChoice
from durable_memory.memory.declarations.watching import Watch
from durable_memory.memory.errors import MemoryConflict, MemoryUnavailable
from durable_memory.memory.flushing.llm.pydantic_ai_model import PydanticAiModel
from durable_memory.memory.flushing.llm.summarizer import LlmSummarizer
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.janitor.sweep import Janitor
from durable_memory.memory.limits import BreakerLimits
from durable_memory.memory.operations import audit
from durable_memory.memory.stores.breaker import Breaker
from durable_memory.memory.stores.redis.keys import MEMORY_KEYS, RedisKeys
from durable_memory.memory.tokens.calibration import Calibration
from durable_memory.memory.tokens.encodings import Encodings
from durable_memory.memory.tokens.endpoint import Endpoint
from durable_memory.memory.tokens.estimating import ScaledCounter
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message
from durable_memory.worker.metrics import WorkerMetrics
from durable_memory.worker.overdue_watch import OverdueFlushes
from tests.integration.llm.endpoint import endpoint
from tests.integration.redis.proxy import open_proxy
from tests.integration.telemetry.declared import REGISTRY

KEY = "key-of-marley"
SHIPPED = Path(__file__).parents[3] / "memories"


@dataclass(frozen=True)
class Sample:
    """One sample of a series."""

    name: str
    labels: Mapping[str, str]
    value: float


def samples(metrics: WorkerMetrics) -> list[Sample]:
    """Everything that this process has measured."""
    return [
        Sample(sample.name, sample.labels, sample.value)
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    ]


class Held:
    """A summariser that waits until it is let go."""

    max_input_tokens: int | None = None

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()

    async def summarize(self, request: SummaryRequest) -> str:
        """See Summarizer."""
        self.asked.set()
        await self.gate.wait()
        return await RuleBasedSummarizer().summarize(request)


async def play(client: MemoryClient, redis_url: str, temporal: Client) -> None:
    """Plays it, on memories of the client's project."""
    memory = client.memory("small", KEY)
    for number in range(12):
        await memory.append([f"Parcel {number} left the depot {number * 37} for Ghent, and nobody knows why."] * 3)
    await memory.flush()
    with contextlib.suppress(MemoryConflict):
        await memory.write("A new start.", if_version="absent")
    await client.memory("ring", KEY).append(["Hello"] * 9)
    await client.memory("private", KEY).append("Write to ada@example.com, or to grace@example.com.")
    await client.memory("cut", KEY).append("Nobody knows why. " * 300)
    await _lose_a_lease(client, redis_url)
    await _retry(client, redis_url)
    await _estimate(client)
    await _be_overdue(client, redis_url)
    await _wake_in_vain(client, temporal)
    await _sweep(client, temporal)
    await _break()
    await _reload()
    await _ask_a_model()
    await _calibrate()
    await _fill_the_disk(client)


async def _fill_the_disk(client: MemoryClient) -> None:
    logger = logging.getLogger(audit.LOGGER)
    before, level = logger.handlers[:], logger.level
    keep_audit_log(Path("/dev/full"))
    await client.memory("small", f"{KEY}/audited").clear(confirm=True)
    [added] = set(logger.handlers) - set(before)
    logger.removeHandler(added)
    added.close()
    logger.setLevel(level)


async def _be_overdue(client: MemoryClient, redis_url: str) -> None:
    memory = client.memory("small", f"{KEY}/overdue")
    await memory.append(["Nobody knows why."] * 60)
    async with Redis.from_url(redis_url) as raw:
        # Due since the year 2001.
        await raw.hset(RedisKeys("dm:").memory(memory.id).names[MEMORY_KEYS.index("meta")], "due_at", 10**12)
    await OverdueFlushes(client.parts.backends["redis"], client.project, lambda: REGISTRY).look()


async def _retry(client: MemoryClient, redis_url: str) -> None:
    parts = urlsplit(redis_url)
    assert parts.hostname is not None
    assert parts.port is not None
    async with (
        open_proxy(parts.hostname, parts.port) as proxy,
        await MemoryClient.connect(proxy.url, memories=REGISTRY, project=client.project) as proxied,
    ):
        proxy.refusals.append(b"-LOADING Redis is loading the dataset in memory\r\n")
        await proxied.memory("small", KEY).append("Nobody knows why.")


async def _reload() -> None:
    await Watch([SHIPPED]).reload(lambda _: None)


async def _calibrate() -> None:
    without_key = Endpoint("anthropic", "claude-sonnet-4-5", key_variable="NO_SUCH_VARIABLE")
    calibration = Calibration(without_key, ScaledCounter(TiktokenCounter(), 1.2))
    calibration.offer([Message.user("Nobody knows why. " * 1_000)])
    await asyncio.sleep(0)
    await calibration.close()


async def _ask_a_model() -> None:
    async with endpoint() as service:
        choice = SummarizerChoice(type="llm", model="openai:gpt-4o-mini", endpoint=service.url)
        model = LlmSummarizer(PydanticAiModel(choice, None), resource="small", max_input_tokens=1_000)
        await model.summarize(SummaryRequest((Message.user("Ship the parcel to Ghent."),), 60, TiktokenCounter()))
        await model.close()


async def _break() -> None:
    async def never() -> None:
        raise MemoryUnavailable("nobody answers")

    breaker = Breaker("small", BreakerLimits(timeout_seconds=1, max_failures=1, reset_seconds=60))
    for _ in range(2):
        with contextlib.suppress(MemoryUnavailable):
            await breaker.call(never)


async def _lose_a_lease(client: MemoryClient, redis_url: str) -> None:
    held = Held()
    async with await MemoryClient.connect(
        redis_url, memories=REGISTRY, project=client.project, summarizer=held
    ) as holding:
        memory = holding.memory("small", f"{KEY}/lease")
        await memory.append(["Where is my parcel?"] * 6)
        flushing = asyncio.create_task(memory.flush(force=True))
        await held.asked.wait()
        await client.memory("small", f"{KEY}/lease").flush(force=True)  # is busy
        await memory.write("A new start.")
        held.gate.set()
        assert (await flushing).outcome == "stale"


async def _estimate(client: MemoryClient) -> None:
    def nothing_to_load(_: str) -> None:
        raise ConnectionError("no network")

    counter = TiktokenCounter(encodings=Encodings(nothing_to_load))  # type: ignore[arg-type] # it never returns
    estimating = MemoryClient(REGISTRY, client.parts.backends, project=client.project, counter=counter)
    await estimating.memory("small", f"{KEY}/estimated").append("Hello")


async def _wake_in_vain(client: MemoryClient, temporal: Client) -> None:
    nowhere = await Client.connect(temporal.service_client.config.target_host, namespace="no-such-namespace")
    waker = TemporalWaker(nowhere, "no-queue")
    waking = MemoryClient(REGISTRY, client.parts.backends, project=client.project, waker=waker)
    await waking.memory("small", KEY).flush(wait=False)


async def _sweep(client: MemoryClient, temporal: Client) -> None:
    await client.memory("small", f"{KEY}/due").append(["A sentence of about ten tokens, more or less."] * 60)
    woken: list[MemoryId] = []

    async def wake(memory: MemoryId) -> None:
        woken.append(memory)

    await Janitor(client, TemporalRuns(temporal), wake).sweep()
    assert woken
