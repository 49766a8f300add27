"""What `health` says of a background flush whose summariser fails and is asked again."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError

from durable_memory import MemoryClient, TemporalWaker
from durable_memory.memory.errors import MemoryModelUnavailable
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.operations import health
from durable_memory.memory.types import MemoryHealth, MemoryStats, Omitted
from durable_memory.memory.waking import RetriedFlush
from durable_memory.workflows import flusher
from tests.integration.cli.programs import run_program
from tests.integration.temporal.background import flusher_ended, texts
from tests.integration.temporal.declarations import DECLARATIONS
from tests.integration.temporal.flows.by_name import CallByName
from tests.integration.temporal.flows.calls import AppendMany
from tests.integration.temporal.rig import REGISTRY, Rig, running
from tests.ports import quiet_ports

SECRET = "the parcel of Marley"
LONG: Final = "Overloaded, at length"
"""A failure of more than the 4 KB that Temporal keeps of an attempt's."""
HANGS: Final = "Hangs"
DUE: Final = MemoryStats(
    exists=True,
    version="1",
    tokens={},
    messages={},
    omitted=Omitted(),
    max_tokens=400,
    max_messages=None,
    flush_due=True,
)


class Failing:
    """Fails until it may write; the text of its error repeats what was said."""

    max_input_tokens: int | None = None

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.writes = False

    async def summarize(self, request: SummaryRequest) -> str:
        """See Summarizer."""
        if self.writes:
            return f"A summary of {len(request.messages)} messages."
        if self.kind == HANGS:
            await asyncio.sleep(3)
        if self.kind == MemoryModelUnavailable.type:
            raise MemoryModelUnavailable(SECRET)
        raise ApplicationError(SECRET * (300 if self.kind == LONG else 1), type=self.kind.partition(",")[0])


async def until_retried(memories: MemoryClient, key: str) -> MemoryHealth:
    """Asks health until so many attempts have failed that it is a problem."""
    async with asyncio.timeout(60):
        while (found := await memories.memory("small", key).health()).healthy:  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0.1)
    return found


@pytest.fixture(autouse=True)
def _goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The flush does not fail for good, however long a test takes."""
    policy = RetryPolicy(initial_interval=timedelta(seconds=1), backoff_coefficient=1)
    monkeypatch.setitem(flusher.SUMMARIZE, "retry_policy", policy)


@pytest.fixture
def summarizer(request: pytest.FixtureRequest) -> Failing:
    return Failing(getattr(request, "param", MemoryModelUnavailable.type))


@pytest.fixture
async def rig(temporal_address: str, redis_url: str, summarizer: Failing) -> AsyncIterator[Rig]:
    async with running(
        temporal_address, redis_url, summarizer=summarizer, workflows=[AppendMany, CallByName]
    ) as failing:
        yield failing


@pytest.fixture
async def asking(rig: Rig, redis_url: str) -> AsyncIterator[MemoryClient]:
    """A program of one's own that knows Temporal."""
    project = rig.memory("small", "key").id.project
    waker = TemporalWaker(rig.client, rig.flush_queue)
    async with await MemoryClient.connect(redis_url, memories=REGISTRY, project=project, waker=waker) as memories:
        yield memories


def test_a_flush_is_a_problem_once_it_failed_thrice_or_for_minutes() -> None:
    now = datetime.now(UTC)

    def lasts(failures: int, since: timedelta) -> bool:
        flush = RetriedFlush("summarize", failures, "MemoryModelUnavailable", now, now - since)
        return health.lasts(DUE, flush, now)

    assert [lasts(failures, timedelta()) for failures in (1, 2, 3)] == [False, False, True]
    assert [lasts(1, timedelta(seconds=seconds)) for seconds in (299, 301)] == [False, True]


@pytest.mark.parametrize(
    ("summarizer", "words"),
    [
        (MemoryModelUnavailable.type, ("MemoryModelUnavailable", health.FAILED[MemoryModelUnavailable.type])),
        ("Overloaded", ("Overloaded", "it is tried again")),
        (LONG, ("Overloaded", "it is tried again")),
        (f"no type {SECRET}", ("an error", "it is tried again")),
    ],
    indirect=["summarizer"],
)
async def test_health_names_since_when_and_why_a_flush_is_retried_and_nothing_that_was_said(
    rig: Rig, asking: MemoryClient, summarizer: Failing, words: tuple[str, str]
) -> None:
    memory = asking.memory("small", "key")
    before = datetime.now(UTC).replace(microsecond=0)
    await rig.run(AppendMany.run, "small", ["key"], texts(4))
    [problem] = (await until_retried(asking, "key")).problems
    said = re.fullmatch(
        r"a flush is being retried, due since (.{19}) UTC: its step summarize failed (?:once|\d+ times), "
        r"at (.{19}) UTC with (.+?); (.+)",
        problem,
    )
    assert said is not None
    since, failed = (datetime.fromisoformat(moment).replace(tzinfo=UTC) for moment in said.groups()[:2])
    assert before <= since <= failed <= datetime.now(UTC)
    assert said.groups()[2:] == words
    summarizer.writes = True
    await flusher_ended(rig, memory)
    assert (await memory.health()).healthy


async def test_a_first_failure_is_a_warning_of_a_healthy_memory(
    rig: Rig, asking: MemoryClient, summarizer: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = RetryPolicy(initial_interval=timedelta(seconds=8), backoff_coefficient=1)
    monkeypatch.setitem(flusher.SUMMARIZE, "retry_policy", policy)
    memory = asking.memory("small", "key")
    await rig.run(AppendMany.run, "small", ["key"], texts(4))
    async with asyncio.timeout(60):
        while not (found := await memory.health()).warnings:  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0.1)
    assert (found.healthy, found.problems) == (True, ())
    assert re.match(r"a flush is being retried, due since .*: its step summarize failed once, ", found.warnings[0])
    summarizer.writes = True
    await flusher_ended(rig, memory)
    assert (await memory.health()).warnings == ()


@pytest.mark.parametrize("summarizer", [HANGS], indirect=True)
async def test_an_attempt_that_timed_out_has_no_time_of_its_end(
    rig: Rig, asking: MemoryClient, summarizer: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(flusher.SUMMARIZE, "start_to_close_timeout", timedelta(seconds=1))
    await rig.run(AppendMany.run, "small", ["key"], texts(4))
    [problem] = (await until_retried(asking, "key")).problems
    assert re.search(r"its step summarize failed (once|\d+ times) with TimeoutError; ", problem)
    summarizer.kind, summarizer.writes = "", True
    await flusher_ended(rig, asking.memory("small", "key"))


async def test_the_activity_and_the_command_say_so_too(
    rig: Rig, asking: MemoryClient, summarizer: Failing, redis_url: str, temporal_address: str, tmp_path: Path
) -> None:
    await rig.run(AppendMany.run, "small", ["key"], texts(4))
    await until_retried(asking, "key")
    said = r"a flush is being retried, .* with MemoryModelUnavailable; the model of its summariser does not answer"
    answer = await rig.run(CallByName.run, "memory.health", {"memory": {"resource": "small", "key": "key"}})
    assert [re.match(said, problem) is not None for problem in answer["problems"]] == [True]
    (tmp_path / "small.json.yaml").write_text(json.dumps(next(one for one in DECLARATIONS if one["id"] == "small")))
    here = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": asking.project, "DURABLE_MEMORY_MEMORIES": str(tmp_path)}
    asked = ("health", "small", "key", "-o", "json")
    shown = await run_program(*asked, cwd=tmp_path, TEMPORAL_ADDRESS=temporal_address, **here)
    assert (shown.code, shown.err) == (1, "")
    assert [re.match(said, problem) is not None for problem in shown.json()["problems"]] == [True]
    alone = await run_program(*asked, cwd=tmp_path, **here)
    assert (alone.code, alone.err, alone.json()["healthy"]) == (0, "", True)
    [port] = quiet_ports(1)
    in_vain = await run_program(*asked, cwd=tmp_path, TEMPORAL_ADDRESS=f"127.0.0.1:{port}", **here)
    assert (in_vain.code, in_vain.json()["healthy"]) == (0, True)
    assert in_vain.err.startswith("Temporal could not be asked how its flush fares: Temporal at 127.0.0.1:")
    summarizer.writes = True
    await flusher_ended(rig, asking.memory("small", "key"))
